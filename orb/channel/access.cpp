#include "orb/channel/access.h"

#include <grp.h>
#include <pwd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <system_error>
#include <utility>

#include "orb/channel/peer_watch.h"
#include "orb/os/peers/own_user.h"
#include "orb/os/peers/peer_groups.h"

namespace corelane::channel {
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

bool Access::has(uid_t user, std::span<const gid_t> groups_of_his) const noexcept {
  const auto is_he = [&](uid_t named) { return os::is_one_user(user, named); };
  return anyone || std::any_of(users.begin(), users.end(), is_he) ||
         std::find_first_of(groups_of_his.begin(), groups_of_his.end(), groups.begin(), groups.end()) !=
             groups_of_his.end();
}

bool Access::admits(uid_t user, std::span<const gid_t> groups_of_his) const noexcept {
  return user == 0 || os::is_own_user(user) || has(user, groups_of_his);
}

bool is_welcome(const os::Fd& socket, const Access& access, uid_t own_user) {
  const uid_t user = peer_of(socket).user;
  return os::is_one_user(user, own_user) ||
         access.has(user, access.groups.empty() ? std::vector<gid_t>{} : os::peer_groups(socket.get()));
}

std::string parse_access(std::string_view text, Access& out) {
  Access access;
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
  return out = std::move(access), std::string{};
}

}  // namespace corelane::channel
