#include "orb/dispatch/manager/end_requests.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <new>

#include "orb/os/fd.h"
#include "orb/os/files/small_file.h"
#include "orb/os/log.h"
#include "orb/os/machine/host.h"
#include "orb/os/peers/own_user.h"
#include "orb/os/process/size_limit_guard.h"

namespace corelane::dispatch {
namespace {

bool may_ask(const struct stat& file) noexcept {
  const bool is_trusted = file.st_uid == 0 || os::is_own_user(file.st_uid);
  return S_ISREG(file.st_mode) && is_trusted && (file.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Returns nothing if the file cannot be read or is longer than `limit`.
std::optional<std::string> text_in(const os::Fd& file, std::size_t limit) {
  std::string text(limit + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {  // bound: the limit
    const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > limit) return std::nullopt;
  text.resize(size);
  return text;
}

}  // namespace

std::optional<std::vector<std::uint64_t>> numbers_of(std::string_view text) {
  std::vector<std::uint64_t> numbers;
  constexpr std::string_view blanks = " \n";
  for (std::size_t at = text.find_first_not_of(blanks); at != text.npos; at = text.find_first_not_of(blanks)) {
    text.remove_prefix(at);  // bound: the text
    std::uint64_t number = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (fault != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.empty() && blanks.find(text.front()) == blanks.npos) return std::nullopt;
    numbers.push_back(number);
  }
  return numbers;
}

std::string text_of(const std::vector<std::uint64_t>& numbers) {
  std::string text;
  for (const std::uint64_t number : numbers) text += std::to_string(number) + "\n";
  return text;
}

bool EndRequests::step(Time) noexcept try { return !directory_.empty() && look(); } catch (const std::bad_alloc&) {
  return true;
}

bool EndRequests::look() {
  const std::string path = end_request(directory_, ::getpid());
  const os::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) return false;
  struct stat status {};
  const bool may = ::fstat(file.get(), &status) == 0 && may_ask(status);
  const auto text = may ? text_in(file, longest) : std::nullopt;
  const auto request = text ? numbers_of(*text) : std::nullopt;
  if (::unlink(path.c_str()) != 0) return false;  // the request would be found again and again
  if (!request || request->empty() || request->front() != os::this_process().start_ticks) {
    os::log::warn(path + (may ? ": this file is no request to end tasks of this process; use corelane tasks end"
                              : ": only this server's user and root may end its tasks"));
    return true;
  }
  answer(*request, status.st_uid);
  return true;
}

void EndRequests::answer(const std::vector<std::uint64_t>& request, unsigned user) {
  std::vector<std::uint64_t> ended;
  for (std::size_t i = 1; i < request.size(); ++i)
    if (end_(TaskId{request[i]})) ended.push_back(request[i]);
  std::string names;
  for (const std::uint64_t task : ended) names += " " + std::to_string(task);
  os::log::info("user " + std::to_string(user) + " ends " +
                (ended.empty() ? std::string("tasks that this server does not have") : "tasks:" + names));
  const os::SizeLimitGuard guard;
  const auto written = os::write_small_file(end_answer(directory_, ::getpid()), text_of(ended), 0600);
  if (!written) os::log::warn("cannot write the answer to a request to end tasks: " + written.error().text);
}

}  // namespace corelane::dispatch
