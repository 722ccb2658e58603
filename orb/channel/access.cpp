#include "orb/channel/access.h"

#include <algorithm>

#include "orb/channel/peer_watch.h"
#include "orb/os/own_user.h"
#include "orb/os/peers/peer_groups.h"

namespace corelane::channel {

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

}  // namespace corelane::channel
