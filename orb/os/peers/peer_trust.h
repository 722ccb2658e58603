// Checks whether the server at a Unix socket can be trusted. Any user can make a socket at a path that others look at.
// For a connected socket the kernel reports the server's user (SO_PEERCRED, unix(7)), which cannot be forged.
// Threads: any.
//
// The folder orb/os/peers tells who is at the other end of a Unix socket, and passes descriptors there.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>

namespace corelane::os {

// Returns nothing if the server runs as root, as this process's user, or as one of `others`. Otherwise returns its user
// as the end of a sentence about the server: "is run by user 1001, neither this one nor root".
std::optional<std::string> why_not_trusted(int connected_socket, std::span<const uid_t> others = {});

}  // namespace corelane::os
