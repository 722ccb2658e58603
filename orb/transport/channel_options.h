// ChannelOptions is what a process grants to the channels of its connections.
// Threads: values.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "orb/base/time.h"
#include "orb/channel/access.h"

namespace corelane::transport {

// The usual pool in bytes: four messages of 1 MiB, with their GIOP headers, and some short ones.
inline constexpr std::size_t usual_channel_pool = 4416 * 1024;

struct ChannelOptions {
  // Where the transport chooses paths for listening endpoints that have none. The directory is made when first needed.
  std::string directory{};
  channel::Access access{};  // who may connect besides this process's own user
  // Bytes that each end of a connection lends for messages of more than 4 KiB; 0: none.
  std::size_t pool = usual_channel_pool;
  // How long a listener waits for a client's part of the set-up.
  Duration handshake = std::chrono::seconds{5};
  // True: a wake-up between ends of one user goes to a descriptor of its own. False: it goes to the socket, as between
  // two users.
  bool wake_by_descriptor = true;
};

// The upper limit of ChannelOptions::pool that both ends of a connection accept.
inline constexpr std::size_t largest_channel_pool = 32 * 1024 * 1024;

}  // namespace corelane::transport
