#include "orb/core/config/access_text.h"

#include <grp.h>
#include <pwd.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace corelane::core {
namespace {

constexpr std::string_view separators = ", \t";

std::optional<std::uint32_t> number_in(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  constexpr std::uint32_t nobody = 0xffffffff;  // (uid_t)-1
  return fault == std::errc{} && end == text.data() + text.size() && number != nobody ? std::optional(number)
                                                                                      : std::nullopt;
}

// getpwnam() and getgrnam() return static data that the next call overwrites. That is safe here: one thread reads the
// settings.
std::optional<uid_t> user_named(const std::string& name) {
  if (const auto number = number_in(name)) return number;
  const passwd* found = getpwnam(name.c_str());
  return found != nullptr ? std::optional(found->pw_uid) : std::nullopt;
}
std::optional<gid_t> group_named(const std::string& name) {
  if (const auto number = number_in(name)) return number;
  const group* found = getgrnam(name.c_str());
  return found != nullptr ? std::optional(found->gr_gid) : std::nullopt;
}

}  // namespace

Expected<channel::Access, std::string> parse_access(std::string_view text) {
  channel::Access access;
  while (!text.empty()) {  // bound: the text
    const std::string word(text.substr(0, text.find_first_of(separators)));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (word.empty() || word == "none") continue;
    if (word == "anyone") {
      access.anyone = true;
    } else if (word.front() == '@') {
      const auto group = group_named(word.substr(1));
      if (!group) return "groups of this host; it has no group " + word.substr(1);
      access.groups.push_back(*group);
    } else {
      const auto user = user_named(word);
      if (!user) return "anyone, users of this host, or groups of it as @name; it has no user " + word;
      access.users.push_back(*user);
    }
  }
  return access;
}

}  // namespace corelane::core
