// Endpoint: where a byte stream begins or ends, as text and as value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "orb/base/expected.h"

namespace corelane::transport {

struct Endpoint {
  std::string host;        // a name, an IPv4 or an IPv6 address without brackets; "" listens everywhere
  std::uint16_t port = 0;  // 0 when listening: any free one

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// "127.0.0.1:0", "[::1]:2809", "host.domain:2809", ":2809". BAD_PARAM bad_address for any other text: an IPv6 address
// needs its brackets, a port its digits.
Expected<Endpoint> parse_endpoint(std::string_view text);

// The spelling that parse_endpoint() reads back.
std::string to_string(const Endpoint& endpoint);

}  // namespace corelane::transport
