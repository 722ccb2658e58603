// Checks whether a user that the kernel reports (SO_PEERCRED, stat) is the user of this process. In a user namespace
// (user_namespaces(7)) all unmapped users have one number, the overflow uid. This process may have that number, too. So
// there the number does not identify a user. The same holds for groups.
// Threads: any. Not a real-time thread if the number is the overflow uid or gid, because that case reads a file.
#pragma once

#include <sys/types.h>

#include <string_view>

namespace corelane::os {

// Returns whether `user` is the effective user of this process.
bool is_own_user(uid_t user) noexcept;
// Returns whether the effective user is root of its user namespace. The kernel may still refuse it access to the host's
// resources.
bool runs_as_root() noexcept;
// Returns whether two users that the kernel reports are certainly the same user.
bool is_one_user(uid_t user, uid_t other) noexcept;
// Returns whether the reported number identifies a group.
bool is_known_group(gid_t group) noexcept;
// The same, with explicit inputs. `overflow` is as in /proc/sys/kernel/overflowuid (overflowgid), a map as in
// /proc/self/uid_map (gid_map). An unreadable part of a map maps no user.
bool is_known_group(gid_t group, gid_t overflow, std::string_view gid_map) noexcept;
bool is_own_user(uid_t user, uid_t own, uid_t overflow, std::string_view uid_map) noexcept;

}  // namespace corelane::os
