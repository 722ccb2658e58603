#include "services/reserved/daemon/access_list.h"

#include "orb/os/peers/user_name.h"

namespace corelane::reserved {

Expected<void, Refusal> AccessList::admits(std::uint32_t user, std::span<const gid_t> groups) const {
  if (access_.admits(user, groups)) return {};
  const std::string name = os::name_of_user(user);
  return Refusal{.kind = RefusalKind::no_right,
                 .reason = "user " + name + " may not reserve cores here; reserved.users, a setting of " +
                           "corelane-reserved, says who may. As root: add " + name +
                           ", or a group of theirs as @GROUP, to reserved.users in /etc/corelane.toml and restart "
                           "corelane-reserved"};
}

}  // namespace corelane::reserved
