#include "orb/os/peers/peer_groups.h"

#include <sys/socket.h>

#include <cerrno>

#include "orb/os/peers/own_user.h"

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59  // Linux 4.13
#endif

namespace corelane::os {
namespace {

constexpr socklen_t usual_bytes = 32 * sizeof(gid_t);

std::vector<gid_t> supplementary_groups(int socket) {
  std::vector<gid_t> groups;
  socklen_t bytes = usual_bytes;
  int failed = 0;
  do {  // bound: the second try uses the size that the kernel returned
    groups.resize(bytes / sizeof(gid_t));
    failed = ::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &bytes);
  } while (failed != 0 && errno == ERANGE && bytes > groups.size() * sizeof(gid_t));
  groups.resize(failed == 0 ? bytes / sizeof(gid_t) : 0);
  return groups;
}

}  // namespace

std::vector<gid_t> peer_groups(int connected_socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  const bool has_answer = ::getsockopt(connected_socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  if (!has_answer || peer.gid == static_cast<gid_t>(-1)) return {};  // the answer for TCP sockets
  std::vector<gid_t> groups = supplementary_groups(connected_socket);
  groups.insert(groups.begin(), peer.gid);
  std::erase_if(groups, [](gid_t group) { return !is_known_group(group); });
  return groups;
}

}  // namespace corelane::os
