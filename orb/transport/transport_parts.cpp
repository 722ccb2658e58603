#include "orb/transport/transport_parts.h"

#include <utility>

#include "orb/transport/detail/connection_limiter.h"

namespace corelane::transport {

TransportParts::TransportParts(Reactor& from, const ConnectionLimits& its_limits,
                               std::shared_ptr<ConnectionLimiter> shared)
    : reactor(from.impl()),
      limits(its_limits),
      limiter(shared ? std::move(shared) : std::make_shared<ConnectionLimiter>(its_limits)) {}

}  // namespace corelane::transport
