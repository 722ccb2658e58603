// Returns the groups of the process at the other end of a Unix socket (SO_PEERCRED, SO_PEERGROUPS; Linux 4.13). They
// are the groups that the process had when it called connect(), listen() or socketpair(). Later changes of the system's
// user database do not count: as for files, a user gets a new group at the next login.
// Threads: any but real-time ones (system calls, memory).
#pragma once

#include <sys/types.h>

#include <vector>

namespace corelane::os {

// Returns the primary group, then the supplementary ones; none for another kind of socket. An older kernel reports only
// the primary group. Leaves out the overflow gid, which stands for all groups that this user namespace does not map.
std::vector<gid_t> peer_groups(int connected_socket);

}  // namespace corelane::os
