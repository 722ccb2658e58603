// TransportOptions holds the options of all transports that have some.
// Threads: values.
#pragma once

#include "orb/transport/channel_options.h"
#include "orb/transport/unix_options.h"

namespace corelane::transport {

struct TransportOptions {
  UnixOptions unix_sockets{};
  ChannelOptions channel{};
};

}  // namespace corelane::transport
