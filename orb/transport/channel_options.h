// What a process grants the channels of its connections.
// Threads: values.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "orb/base/time.h"
#include "orb/channel/access.h"

namespace corelane::transport {

// Bytes: four messages of 1 MiB, with what GIOP puts before them, and some short ones.
inline constexpr std::size_t usual_channel_pool = 4416 * 1024;

struct ChannelOptions {
  std::string directory{};   // where paths are chosen for listening endpoints without one; made when first needed
  channel::Access access{};  // who may connect, beside this process's own user
  std::size_t pool =
      usual_channel_pool;  // for messages of more than 4 KiB that each end of a connection lends; 0: none
  Duration handshake = std::chrono::seconds{5};  // how long a listener waits for a client's part of setting one up
  // Wake-ups between ends of one user go to a descriptor of their own; false: as between two users, at the socket.
  bool wake_by_descriptor = true;
};

// Of a pool: what both ends of a connection can have.
inline constexpr std::size_t largest_channel_pool = 32 * 1024 * 1024;

}  // namespace corelane::transport
