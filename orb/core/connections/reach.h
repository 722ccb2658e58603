// Reach limits the servers to which calls through a reference may go. Use a limited reach for a reference that another
// process gave, if the calls must not use the rights of this process. At a Unix socket or a channel the server knows
// this process's user, and the file system admits this process. A server on the network knows neither.
//
// A call that a server forwards keeps its reach.
//
// Threads: a value.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <vector>

#include "orb/core/connections/address.h"

namespace corelane::core {

struct Reach {
  bool is_limited = false;
  // If it is limited: calls may also go to Unix sockets that this user owns, and where a process of this user listens.
  std::optional<uid_t> user{};

  static Reach network() { return {.is_limited = true}; }
  static Reach network_and_sockets_of(uid_t user) { return {.is_limited = true, .user = user}; }
};

// Returns the addresses without the endpoints that the reach excludes. A limited reach also excludes `own`, the
// endpoints of this process: it would call itself as a client on the network.
std::vector<Address> within(const Reach& reach, std::vector<Address> addresses,
                            std::span<const transport::Endpoint> own);

// Returns whether a connection with these ends leads to one of the `own` endpoints of this process, under whatever
// name. A host has many addresses and names, so its port and its being on this host decide.
bool is_to_this_process(const transport::Endpoint& local, const transport::Endpoint& peer,
                        std::span<const transport::Endpoint> own);

}  // namespace corelane::core
