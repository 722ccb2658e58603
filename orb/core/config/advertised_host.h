// advertised_host() chooses the host that a server's references name. A server that listens at 0.0.0.0 or :: listens at
// all addresses of its host. Clients cannot call such an address, so the references name one of the host's own
// addresses.
// Threads: any; pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orb/os/machine/host.h"
#include "orb/transport/endpoint.h"

namespace corelane::core {

struct AdvertisedHost {
  std::string host;
  std::string remark;  // one line for the log if the host was chosen here; otherwise ""
};

// Returns `bound` unless that is 0.0.0.0 or ::. `bound`: the address that the server listens at, in numeric form.
// `addresses`: the addresses of this host. For 0.0.0.0, returns the first IPv4 address that is neither loopback nor
// link-local. For ::, returns the first such IPv6 address, or else such an IPv4 address, which that socket serves, too.
// If there is none, returns the loopback address.
AdvertisedHost advertised_host(const std::string& bound, const std::vector<os::HostAddress>& addresses);

// Parses the setting endpoint.host, such as "plant.example" or "plant.example:47090, [2001:db8::1]:2809, 2001:db8::1".
// In the result, port 0 means the port that the server listens at. Returns an empty list for malformed text.
std::vector<transport::Endpoint> parse_advertised(std::string_view text);
// Returns whether the host is 0.0.0.0 or ::, which mean all addresses of a host.
bool is_everywhere(const std::string& host) noexcept;

}  // namespace corelane::core
