// Why there is no channel, or no service of that name.
// Threads: values.
#pragma once

#include <cstdint>
#include <string>

namespace corelane::nameserver {

struct BrokerFault {
  enum class Kind : std::uint8_t {
    unreachable,  // the broker: not there, gone, or silent until the deadline
    bad_name,     // no name of a service
    name_taken,   // by a service that lives
    unknown_name,
    no_room,     // the broker, or the service, has as many as it can
    denied,      // by the access list of either side
    no_channel,  // the other side was found, and the handshake with it failed
  };
  Kind kind = Kind::unreachable;
  std::string text;  // what, where, and what to do
};

}  // namespace corelane::nameserver
