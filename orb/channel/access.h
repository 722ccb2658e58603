// Access is a list of the users and groups that may be at the other end of a channel, or of another Unix socket. The
// kernel tells which user and groups a peer has.
// Threads: values; is_welcome() and parse_access() any but real-time ones.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orb/os/fd.h"

namespace corelane::channel {

// The users and groups that are admitted besides this process's own user. is_welcome() always admits the own user.
struct Access {
  std::vector<uid_t> users{};
  // One match is enough, with the primary or a supplementary group of the peer, see os::peer_groups().
  std::vector<gid_t> groups{};
  bool anyone = false;

  bool names_others() const noexcept { return anyone || !users.empty() || !groups.empty(); }
  // Returns whether the list has that user, or one of these groups.
  bool has(uid_t user, std::span<const gid_t> groups_of_his) const noexcept;
  // Returns whether a daemon admits such a client: root, this process's user, and everybody on the list.
  bool admits(uid_t user, std::span<const gid_t> groups_of_his) const noexcept;
  friend bool operator==(const Access&, const Access&) = default;
};

// Returns the mode of the socket's file. It is for the own user alone, or for everybody if the list names others. Then
// is_welcome() decides who gets in.
inline mode_t mode_for(const Access& access) noexcept { return access.names_others() ? 0666 : 0600; }

// Returns whether the process at the other end of that socket is on the list, or belongs to `own_user`.
bool is_welcome(const os::Fd& socket, const Access& access, uid_t own_user = ::geteuid());

// Parses the value of a setting, such as "alice, 1001, @plant, @44", stores the list, and returns "". If it is wrong,
// changes nothing, and returns what is expected, as the end of a sentence. Reads the system's lists of users and
// groups.
std::string parse_access(std::string_view text, Access& out);

}  // namespace corelane::channel
