#include "services/corelane/servers/tasks.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <thread>

#include "orb/dispatch/counter_page.h"
#include "orb/dispatch/manager/end_requests.h"
#include "orb/os/clock.h"
#include "orb/os/files/small_file.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {
namespace {

constexpr std::size_t longest_answer = std::size_t{64} * 1024;

bool is_there(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

// Waits until the file is gone, or exists. Returns false if `until` has passed.
bool await(const std::string& path, bool there, Time until) {
  while (is_there(path) != there) {  // bound: the time
    if (os::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  return true;
}

std::optional<dispatch::ProcessCounters> page_of(const EndOptions& options) {
  for (auto& page : dispatch::read_pages(options.directory))
    if (page.pid == options.server) return std::move(page);
  return std::nullopt;
}

// Returns a holder as servers name it: "user N" for the number or the name of a user; other texts are unchanged.
std::string holder_of(const std::string& text) {
  if (!text.empty() && text.find_first_not_of("0123456789") == text.npos) return "user " + text;
  const passwd* const user = ::getpwnam(text.c_str());
  return user != nullptr ? "user " + std::to_string(user->pw_uid) : text;
}

// Returns "user 0, 10.0.0.7".
std::string holders_text(const dispatch::ProcessCounters& page) {
  std::set<std::string> holders;
  for (const auto& task : page.tasks)
    if (!task.holder.empty()) holders.insert(plain(task.holder));
  std::string text;
  for (const std::string& holder : holders) text += (text.empty() ? "" : ", ") + holder;
  return text.empty() ? "nobody does" : "those who do: " + text;
}

// Returns the named tasks and all tasks of the named holders, each once.
std::vector<std::uint64_t> tasks_of(const EndOptions& options, const dispatch::ProcessCounters& page) {
  std::vector<std::uint64_t> tasks = options.tasks;
  std::set<std::string> holders;
  for (const std::string& holder : options.holders) holders.insert(holder_of(holder));
  for (const auto& task : page.tasks)
    if (holders.contains(task.holder)) tasks.push_back(task.task.value);
  std::ranges::sort(tasks);
  tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());
  return tasks;
}

// Returns those of the tasks that end; nothing if no server answered, after a complaint.
std::optional<std::vector<std::uint64_t>> ask(const EndOptions& options, std::vector<std::uint64_t> words,
                                              std::ostream& err) {
  const std::string request = dispatch::end_request(options.directory, options.server);
  const std::string answer = dispatch::end_answer(options.directory, options.server);
  const Time until = os::now() + options.wait;
  const auto complain = [&](const std::string& why) {
    err << "corelane tasks end: " << why << '\n';
    return std::nullopt;
  };
  if (!await(request, false, until))
    return complain("another request waits: " + plain(request) + "; is the server stopped?");
  ::unlink(answer.c_str());
  if (const auto written = os::write_small_file(request, dispatch::text_of(words), 0600); !written)
    return complain(plain(written.error().text));
  if (!await(answer, true, until)) {
    ::unlink(request.c_str());
    return complain("process " + std::to_string(options.server) +
                    " did not answer; is it stopped, or another user's? Its log says which users may ask");
  }
  const auto text = os::read_small_file(answer, longest_answer);
  ::unlink(answer.c_str());
  if (!text) return complain(plain(text.error().text));
  return dispatch::numbers_of(*text);
}

}  // namespace

int end_tasks(const EndOptions& options, std::ostream& out, std::ostream& err) {
  const auto page = page_of(options);
  if (!page) {
    err << "corelane tasks end: no Corelane server " << options.server << " shows its tasks in "
        << plain(options.directory) << "; corelane top shows which there are\n";
    return 1;
  }
  const std::vector<std::uint64_t> tasks = tasks_of(options, *page);
  if (tasks.empty()) {
    err << "corelane tasks end: no holder of that name has a task; " << holders_text(*page) << '\n';
    return 1;
  }
  std::vector<std::uint64_t> words{page->start_ticks};
  words.insert(words.end(), tasks.begin(), tasks.end());
  const auto ended = ask(options, std::move(words), err);
  if (!ended) return 1;
  bool all = true;
  for (const std::uint64_t task : tasks) {
    const bool ends = std::ranges::find(*ended, task) != ended->end();
    all = all && ends;
    (ends ? out : err) << (ends ? "task " : "corelane tasks end: task ") << task
                       << (ends ? " ends\n" : " is not there, or ends already\n");
  }
  return all ? 0 : 1;
}

}  // namespace corelane::tool
