#include "orb/transport/transport_kind.h"

// Each line names the object that a folder here defines, in the order in which a client tries them.
#define CORELANE_TRANSPORTS(KIND) \
  KIND(channel)                   \
  KIND(unix_socket)               \
  KIND(tcp)                       \
  KIND(vsock)

namespace corelane::transport {
namespace kinds {

#define CORELANE_DECLARE(name) extern const TransportKind name;
CORELANE_TRANSPORTS(CORELANE_DECLARE)
#undef CORELANE_DECLARE

}  // namespace kinds

std::vector<Endpoint> listening_places(const Endpoint& endpoint) {
  if (endpoint.kind->places == nullptr) return {endpoint};
  return endpoint.kind->places(endpoint);
}

Registry<TransportKind> transport_kinds() noexcept {
#define CORELANE_LIST(name) &kinds::name,
  static constexpr const TransportKind* all[] = {CORELANE_TRANSPORTS(CORELANE_LIST)};
#undef CORELANE_LIST
  return all;
}

}  // namespace corelane::transport
