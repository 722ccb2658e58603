// TransportParts are what every transport needs: the reactor, the limits of its connections, and what counts them.
// Threads: constant.
#pragma once

#include <memory>

#include "orb/transport/reactor.h"
#include "orb/transport/transport.h"

namespace corelane::transport {

class ConnectionLimiter;

struct TransportParts {
  // `from` outlives the transport. `shared`: shared with other transports, so that their connections count together;
  // null: the connections of this transport count alone.
  TransportParts(Reactor& from, const ConnectionLimits& its_limits, std::shared_ptr<ConnectionLimiter> shared);

  const std::shared_ptr<Reactor::Impl> reactor;
  const ConnectionLimits limits;
  const std::shared_ptr<ConnectionLimiter> limiter;  // of accepted connections
};

}  // namespace corelane::transport
