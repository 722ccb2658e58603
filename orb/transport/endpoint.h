// Endpoint is the address where a byte stream begins or ends, as text and as value.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/expected.h"

namespace corelane::transport {

struct TransportKind;

// The kinds that code and tests name; transport_kind.h has the table of all. Other code looks at what a kind says of
// itself.
namespace kinds {
extern const TransportKind tcp;
extern const TransportKind unix_socket;
extern const TransportKind channel;
}  // namespace kinds

struct Endpoint {
  // A name, an IPv4 or an IPv6 address without brackets. Other kinds have names of their own for the host. "": none, or
  // everywhere when listening.
  std::string host{};
  std::uint16_t port = 0;                   // of TCP; 0 when listening: any free one
  const TransportKind* kind = &kinds::tcp;  // never null
  // The place at the host for kinds without such a port. Examples: the absolute path of a Unix-domain socket, or of the
  // socket at which channels are set up; the port of vsock as text. "" when listening: the transport chooses one.
  std::string path{};
  // The user that has to run the server and to own the socket's file. Otherwise connect() fails, and sends nothing.
  // Only kinds that say checks_user look at it. Nothing: any user.
  std::optional<uid_t> user{};

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

Endpoint unix_endpoint(std::string path);
Endpoint channel_endpoint(std::string path);

// The most bytes of a Unix socket's path: what sockaddr_un holds besides the final NUL.
inline constexpr std::size_t longest_unix_path = 107;

// Parses one endpoint. If a text begins with the prefix of a kind, that kind parses it. TCP parses all other texts.
// Examples: "127.0.0.1:0", "[::1]:2809", "host.domain:2809", ":2809"; "unix:/run/plant.sock", "unix:". Text that is no
// endpoint gives BAD_PARAM bad_address.
Expected<Endpoint> parse_endpoint(std::string_view text);

// What is wrong with a text. It is the end of a sentence that begins with "expected".
struct EndpointFault {
  std::string text;
};
// Parses one or more endpoints, separated by commas and blanks: "127.0.0.1:0, unix:". No endpoint may be there twice.
Expected<std::vector<Endpoint>, EndpointFault> parse_endpoints(std::string_view text);

// Returns the spelling that parse_endpoint() reads back.
std::string to_string(const Endpoint& endpoint);
std::string to_string(const std::vector<Endpoint>& endpoints);

// Returns an example of each kind, "a, b or c", for messages.
std::string endpoint_examples();
// Returns the examples with their meanings, for help.
std::string endpoint_help();

}  // namespace corelane::transport
