// BrokerFault says why there is no channel, or no service of that name.
// Threads: values.
#pragma once

#include <cstdint>
#include <string>

namespace corelane::nameserver {

struct BrokerFault {
  enum class Kind : std::uint8_t {
    unreachable,  // the broker does not exist, is gone, or did not answer until the deadline
    bad_name,     // not a valid service name
    name_taken,   // by a service that runs
    unknown_name,
    no_room,     // the broker, or the service, has reached its limit
    denied,      // by the access list of either side
    no_channel,  // the other side was found, but the handshake with it failed
  };
  Kind kind = Kind::unreachable;
  std::string text;  // what, where, and what to do
};

}  // namespace corelane::nameserver
