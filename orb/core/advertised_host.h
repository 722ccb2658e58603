// Which hosts and ports a server's references name. Where it listens everywhere, 0.0.0.0 or ::, that is no host that
// anybody could call, so one of the host's own addresses is taken. Threads: none; values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orb/os/host.h"
#include "orb/transport/endpoint.h"

namespace corelane::core {

struct AdvertisedHost {
  std::string host;
  std::string remark;  // one line for the log when the host was chosen here; else ""
};

// `bound`: what the server listens on, as a number. `addresses`: this host's. For 0.0.0.0 the first IPv4 address beyond
// loopback and link-local, for :: the first such IPv6 address, or IPv4, which that socket serves as well; loopback
// where there is none.
AdvertisedHost advertised_host(const std::string& bound, const std::vector<os::HostAddress>& addresses);

// endpoint.host: "plant.example", "plant.example:47090, [2001:db8::1]:2809, 2001:db8::1". A port of 0: the one that is
// listened at. Empty for other texts.
std::vector<transport::Endpoint> parse_advertised(std::string_view text);
// Whether it is the address that stands for all of a host, 0.0.0.0 or ::.
bool is_everywhere(const std::string& host) noexcept;

}  // namespace corelane::core
