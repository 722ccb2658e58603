// Whether a user of whom the kernel tells (SO_PEERCRED, stat) is the one whom this process runs as. In a user namespace
// (user_namespaces(7)) all users whom it does not map have one number, the overflow uid, which may be this process's,
// too: that number says nothing there about who somebody is. With groups it is the same.
// Threads: any but real-time ones where the number is the overflow uid or gid: that reads a file.
#pragma once

#include <sys/types.h>

#include <string_view>

namespace corelane::os {

// By the effective user.
bool is_own_user(uid_t user) noexcept;
// Whether that one is root: of its user namespace, where the kernel may still refuse it what is the host's.
bool runs_as_root() noexcept;
// Whether two users of whom the kernel tells are one, in the same sense.
bool is_one_user(uid_t user, uid_t other) noexcept;
// Whether the number of a group of which the kernel tells says which one it is.
bool is_known_group(gid_t group) noexcept;
// The same from what they look at: `overflow` as in /proc/sys/kernel/overflowuid (overflowgid), a map as in
// /proc/self/uid_map (gid_map); what cannot be read of that maps nobody.
bool is_known_group(gid_t group, gid_t overflow, std::string_view gid_map) noexcept;
bool is_own_user(uid_t user, uid_t own, uid_t overflow, std::string_view uid_map) noexcept;

}  // namespace corelane::os
