// Functions for kinds whose endpoints are paths of the file system: Unix sockets and channels.
// Threads: any but real-time ones; they allocate.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orb/giop/ior.h"
#include "orb/transport/detail/endpoint_text.h"
#include "orb/transport/transport_kind.h"

namespace corelane::transport {

// Parses what follows the prefix of the kind. "" is an endpoint whose path the transport chooses. A path needs its
// first slash, and has at most longest_unix_path bytes.
ParsedEndpoint parse_path(const TransportKind& kind, std::string_view path);
std::string print_path(const Endpoint& endpoint);

// Adds the endpoints that a process of this host can reach, and says in `found` whether the server is on this host.
void add_paths(const TransportKind& kind, const std::vector<giop::UnixAddress>& addresses, const HostView& here,
               Reachable& found);
// Returns what a reference says of an endpoint of this process.
giop::UnixAddress told_path(const Endpoint& endpoint, const HostView& here);
// Describes a component. `addresses`: what it holds.
ShownComponent show_path(const TransportKind& kind, std::string name, const std::vector<giop::UnixAddress>& addresses);

// Puts a component into a profile of its own, so that the functions for profiles can read it.
inline giop::IiopProfile alone(const giop::TaggedComponent& component) { return {giop::giop_1_2, {}, {}, {component}}; }

}  // namespace corelane::transport
