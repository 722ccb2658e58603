// Endpoint is the address where a byte stream begins or ends, as text and as value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/expected.h"

namespace corelane::transport {

enum class EndpointKind : std::uint8_t { tcp, unix_socket, channel };

struct Endpoint {
  std::string host{};      // a name, an IPv4 or an IPv6 address without brackets; "" listens everywhere
  std::uint16_t port = 0;  // 0 when listening: any free one
  EndpointKind kind = EndpointKind::tcp;
  // The absolute path of a Unix-domain socket, or of the one at which channels are set up. "" when listening: the
  // transport chooses one.
  std::string path{};

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

Endpoint unix_endpoint(std::string path);
Endpoint channel_endpoint(std::string path);

// The most bytes of a Unix socket's path: what sockaddr_un holds besides the final NUL.
inline constexpr std::size_t longest_unix_path = 107;

// Parses one endpoint: "127.0.0.1:0", "[::1]:2809", "host.domain:2809", ":2809"; "unix:/run/plant.sock", "unix:";
// "channel:/run/plant.channel", "channel:". Any other text gives BAD_PARAM bad_address. An IPv6 address needs its
// brackets. A port needs its digits. A path needs its first slash, and has at most longest_unix_path bytes.
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

}  // namespace corelane::transport
