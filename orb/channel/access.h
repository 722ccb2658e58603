// Who may be at the other end of a channel, or of another Unix socket: users and groups, as the kernel tells of them.
// Threads: values; is_welcome() any but real-time ones.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <span>
#include <vector>

#include "orb/os/fd.h"

namespace corelane::channel {

// Others than the own user, who always may: see is_welcome().
struct Access {
  std::vector<uid_t> users{};
  std::vector<gid_t> groups{};  // one of a peer's is enough, primary or supplementary: os::peer_groups()
  bool anyone = false;

  bool names_others() const noexcept { return anyone || !users.empty() || !groups.empty(); }
  // Whether it has that user, or one of these groups.
  bool has(uid_t user, std::span<const gid_t> groups_of_his) const noexcept;
  // A daemon's clients: root, this process's user, and whom it has.
  bool admits(uid_t user, std::span<const gid_t> groups_of_his) const noexcept;
  friend bool operator==(const Access&, const Access&) = default;
};

// Of the socket's file: for the own user alone, or for all, of whom is_welcome() lets in whom it names.
inline mode_t mode_for(const Access& access) noexcept { return access.names_others() ? 0666 : 0600; }

// Whether the list has whoever is at the other end of that socket, or he is `own_user`.
bool is_welcome(const os::Fd& socket, const Access& access, uid_t own_user = ::geteuid());

}  // namespace corelane::channel
