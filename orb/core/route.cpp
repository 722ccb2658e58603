#include "orb/core/route.h"

#include "orb/core/client/reference.h"
#include "orb/core/connections/connection_cache.h"
#include "orb/core/connections/connection_pool.h"
#include "orb/core/lifecycle/orb_state.h"
#include "orb/core/settings.h"
#include "orb/os/clock.h"
#include "orb/transport/transport_kind.h"

namespace corelane::core {

Route route_of(const Reference& reference) {
  if (reference.address() == nullptr)
    return {.text = "calls within this process", .transport = "process", .endpoint = {}, .why = "the object is here"};
  auto& state = reference.orb()->state();
  const auto route_by = [&](const transport::Endpoint& endpoint, const Address& address, bool is_fallback) -> Route {
    const Channels channels = channels_for(state.settings.channels, is_fallback);
    return {.text = route_text(endpoint, address, channels),
            .transport = std::string(endpoint.kind->name),
            .endpoint = to_string(endpoint),
            .why = why_text(endpoint, address, channels)};
  };
  // Describes the connection that calls have used, first those with a contract. Makes a connection only if there is
  // none.
  for (const Traffic traffic : {Traffic::contract, Traffic::plain})
    if (const Reference::Route* const route = reference.route(traffic); route != nullptr && route->pool->connected())
      return route_by(route->pool->endpoint(), *route->address, route->is_fallback);
  const auto found = state.connect(reference.addresses(), os::now());
  if (!found) return {.text = "the connection is gone again", .transport = {}, .endpoint = {}, .why = {}};
  return route_by(found->connection->peer(), *found->address, false);
}

}  // namespace corelane::core
