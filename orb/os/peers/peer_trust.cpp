#include "orb/os/peers/peer_trust.h"

#include <sys/socket.h>

#include <algorithm>

#include "orb/os/peers/own_user.h"

namespace corelane::os {

std::optional<std::string> why_not_trusted(int connected_socket, std::span<const uid_t> others) {
  ucred server{};
  socklen_t size = sizeof server;
  if (::getsockopt(connected_socket, SOL_SOCKET, SO_PEERCRED, &server, &size) != 0)
    return "is run by a user that the kernel does not report";
  const bool is_named = std::find(others.begin(), others.end(), server.uid) != others.end();
  if (server.uid == 0 || is_own_user(server.uid) || is_named) return std::nullopt;
  return "is run by user " + std::to_string(server.uid) + ", neither this one nor root";
}

}  // namespace corelane::os
