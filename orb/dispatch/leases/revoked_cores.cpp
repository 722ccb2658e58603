#include "orb/dispatch/leases/revoked_cores.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string_view>

#include "orb/os/files/small_file.h"
#include "orb/os/log.h"

namespace corelane::dispatch {
namespace {

constexpr std::size_t longest_file = 16 * 1024;
constexpr std::string_view between = ", \t\r\n";

// Returns the cores; nothing if the text contains anything else than numbers of cores.
std::optional<std::vector<CoreId>> parse(std::string_view text) {
  std::vector<CoreId> cores;
  for (std::size_t at = text.find_first_not_of(between); at != text.npos; at = text.find_first_not_of(between)) {
    text.remove_prefix(at);  // bound: the text
    CoreId core{};
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), core.value);
    if (fault != std::errc{} || core.value < 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.empty() && between.find(text.front()) == between.npos) return std::nullopt;
    cores.push_back(core);
  }
  return cores;
}

}  // namespace

bool RevokedCores::has(CoreId core) const noexcept {
  return std::find(cores_.begin(), cores_.end(), core) != cores_.end();
}

void RevokedCores::look() {
  if (access(path_.c_str(), F_OK) != 0) {
    if (errno == ENOENT) cores_.clear();
    return;
  }
  const auto text = os::read_small_file(path_, longest_file);
  if (!text) return complain(text.error().text);
  const auto found = parse(*text);
  if (!found)
    return complain(path_ + ": hardware threads are expected, one by one, such as 2,3, and not \"" +
                    text->substr(0, 40) + "\"; the revoked cores stay as they were");
  cores_ = *found;
}

void RevokedCores::complain(const std::string& why) {
  if (logged_ == why) return;
  logged_ = why;
  os::log::warn("revoked cores: " + why);
}

}  // namespace corelane::dispatch
