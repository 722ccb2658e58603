#include "services/reserved/daemon/access_list.h"

#include <grp.h>
#include <pwd.h>

#include <algorithm>

namespace corelane::reserved {

KnownUser known_user(uid_t user) {
  constexpr std::size_t lookup_bytes = 64 * 1024, most_groups = 256;
  KnownUser known{.name = std::to_string(user)};
  std::vector<char> memory(lookup_bytes);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(user, &entry, memory.data(), memory.size(), &found) != 0 || found == nullptr) return known;
  known.name = found->pw_name;
  known.groups.resize(most_groups, static_cast<gid_t>(-1));  // which is no group
  int count = static_cast<int>(most_groups);
  // Where there are more, those that found room.
  if (getgrouplist(found->pw_name, found->pw_gid, known.groups.data(), &count) >= 0)
    known.groups.resize(static_cast<std::size_t>(count));
  return known;
}

Expected<void, Refusal> AccessList::admits(std::uint32_t user) const {
  if (user == 0 || user == geteuid() || access_.anyone) return {};
  if (std::ranges::count(access_.users, user) > 0) return {};
  const KnownUser known = known_user(user);
  if (std::ranges::find_first_of(known.groups, access_.groups) != known.groups.end()) return {};
  return Refusal{.kind = RefusalKind::no_right,
                 .reason = "user " + known.name + " may not reserve cores here; reserved.users, a setting of " +
                           "corelane-reserved, says who may. As root: add " + known.name +
                           ", or a group of theirs as @GROUP, to reserved.users in /etc/corelane.toml and restart "
                           "corelane-reserved"};
}

}  // namespace corelane::reserved
