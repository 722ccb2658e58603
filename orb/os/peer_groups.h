// The groups of whoever is at the other end of a Unix socket, as the kernel says (SO_PEERCRED, SO_PEERGROUPS; Linux
// 4.13): those that his process had when it called connect(), listen() or socketpair(). They are the process's own,
// whatever the system's list of users says by now: who is put into a group has it from his next login on, as for files.
// Threads: any but real-time ones (system calls, memory).
#pragma once

#include <sys/types.h>

#include <vector>

namespace corelane::os {

// The primary one, then the supplementary ones; none when it is no such socket. An older kernel tells of the primary
// one alone. Left out is the number that stands for all groups that this user namespace does not map.
std::vector<gid_t> peer_groups(int connected_socket);

}  // namespace corelane::os
