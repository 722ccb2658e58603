// TransportKind describes one kind of transport to the code above. It has the name of the kind, the text of its
// endpoints, and their form in references. It also has the properties on which the code above depends, and the function
// that makes the transport. Code above asks a kind for its properties, and never which one it is.
//
// A transport is a folder below this one and one line in the table of transport_kind.cpp. Each endpoint points to its
// kind.
//
// Threads: constant objects. The functions are called from any thread but a real-time one; none is called for a call.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/registry.h"
#include "orb/giop/ior.h"
#include "orb/transport/endpoint.h"
#include "orb/transport/host_view.h"

namespace corelane::transport {

class ConnectionLimiter;
class Reactor;
class Transport;
struct Address;
struct ConnectionLimits;
struct TransportOptions;

// The endpoints of a profile that this process can try to reach.
struct Reachable {
  std::vector<Endpoint> endpoints{};
  SameHost same_host = SameHost::no_socket_named;
};

// A component of a profile, for people.
struct ShownComponent {
  std::string name;
  std::string content;   // "malformed" if it cannot be read
  std::string endpoint;  // "unix /run/plant.sock"; "" if it cannot be read
};

struct TransportKind {
  std::string_view name;     // in reports: "unix"
  std::string_view prefix;   // of the text of its endpoints, with the colon: "unix:". TCP alone has none
  std::string_view example;  // of such a text, for messages and help
  std::string_view help;     // what it is, behind the example and a colon

  // What the code above depends on.
  bool of_this_host = false;     // its peers are processes of this host, and the kernel knows their users
  bool offered_unasked = false;  // a server for other hosts also listens at one, whose path is "" (endpoint.local)
  bool checks_user = false;      // connect() checks Endpoint::user
  bool shares_memory = false;    // connecting takes milliseconds and several descriptors; client.channel may forbid it
  bool batches_oneways = false;  // each send() becomes a packet, so it pays to send bursts of oneways together
  bool is_iiop = false;          // its endpoints are those of IIOP profiles and corbaloc: a host and a port

  // Endpoints as text. parse() gets what follows the prefix.
  Expected<Endpoint, EndpointFault> (*parse)(std::string_view text);
  std::string (*print)(const Endpoint& endpoint);

  // Endpoints in references. read() adds those of the profile that this process can try. write() adds an endpoint of
  // this process to the profile. show() describes a component. It returns nothing if the component is of another kind.
  void (*read)(const giop::IiopProfile& profile, const HostView& here, Reachable& found);
  void (*write)(const Endpoint& endpoint, const HostView& here, giop::IiopProfile& profile);
  std::optional<ShownComponent> (*show)(const giop::TaggedComponent& component);
  // Reads a profile that is not IIOP and leads to one endpoint. Null: the kind has no such profile.
  std::optional<giop::IiopProfile> (*read_profile)(const giop::TaggedProfile& profile, Endpoint& endpoint) = nullptr;

  // Says what is wrong with an endpoint that did not answer, for the log. Null: that cannot be known.
  std::string (*why_silent)(const Endpoint& endpoint) = nullptr;

  // Returns the endpoint of a socket's address; nothing: the address belongs to another kind. If several kinds know an
  // address, the first one of the table names it. Null: the kind's connections are no sockets.
  std::optional<Endpoint> (*endpoint_of)(const Address& address) = nullptr;

  // Returns where to listen for an endpoint: for one that is a name, at each of its addresses, all with the endpoint's
  // port. Blocks while it resolves the name. Null: at the endpoint.
  std::vector<Endpoint> (*places)(const Endpoint& endpoint) = nullptr;

  // Makes the transport. `reactor` outlives it. `limiter` counts the accepted connections of all kinds together.
  std::unique_ptr<Transport> (*make)(Reactor& reactor, const TransportOptions& options, const ConnectionLimits& limits,
                                     const std::shared_ptr<ConnectionLimiter>& limiter);
};

// Returns where to listen for the endpoint, as its kind says.
std::vector<Endpoint> listening_places(const Endpoint& endpoint);

// Returns all kinds, in the order in which a client tries the endpoints of a reference.
Registry<TransportKind> transport_kinds() noexcept;

}  // namespace corelane::transport
