// Endpoint: where a byte stream begins or ends, as text and as value.
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
  // Of a Unix-domain socket, or of the one at which channels are set up; absolute; "" when listening: one that the
  // transport chooses.
  std::string path{};

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

Endpoint unix_endpoint(std::string path);
Endpoint channel_endpoint(std::string path);

// Bytes of a Unix socket's path at most: what sockaddr_un holds beside the final NUL.
inline constexpr std::size_t longest_unix_path = 107;

// "127.0.0.1:0", "[::1]:2809", "host.domain:2809", ":2809"; "unix:/run/plant.sock", "unix:";
// "channel:/run/plant.channel", "channel:". BAD_PARAM bad_address for
// any other text: an IPv6 address needs its brackets, a port its digits, a path its first slash and at most
// longest_unix_path bytes.
Expected<Endpoint> parse_endpoint(std::string_view text);

// What is wrong with a text, as the end of a sentence that begins with "expected".
struct EndpointFault {
  std::string text;
};
// One or more endpoints, separated by commas and blanks: "127.0.0.1:0, unix:". None is there twice.
Expected<std::vector<Endpoint>, EndpointFault> parse_endpoints(std::string_view text);

// The spelling that parse_endpoint() reads back.
std::string to_string(const Endpoint& endpoint);
std::string to_string(const std::vector<Endpoint>& endpoints);

}  // namespace corelane::transport
