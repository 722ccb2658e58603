#include "services/reserved/daemon/access_list.h"

#include <pwd.h>

#include <vector>

#include "orb/os/own_user.h"

namespace corelane::reserved {

std::string name_of_user(uid_t user) {
  constexpr std::size_t lookup_bytes = 64 * 1024;
  std::vector<char> memory(lookup_bytes);
  passwd entry{};
  passwd* found = nullptr;
  const bool is_known = getpwuid_r(user, &entry, memory.data(), memory.size(), &found) == 0 && found != nullptr;
  return is_known ? found->pw_name : std::to_string(user);
}

Expected<void, Refusal> AccessList::admits(std::uint32_t user, std::span<const gid_t> groups) const {
  if (user == 0 || os::is_own_user(user) || access_.has(user, groups)) return {};
  const std::string name = name_of_user(user);
  return Refusal{.kind = RefusalKind::no_right,
                 .reason = "user " + name + " may not reserve cores here; reserved.users, a setting of " +
                           "corelane-reserved, says who may. As root: add " + name +
                           ", or a group of theirs as @GROUP, to reserved.users in /etc/corelane.toml and restart "
                           "corelane-reserved"};
}

}  // namespace corelane::reserved
