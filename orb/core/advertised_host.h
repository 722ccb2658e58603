// Which host a server's references name. Where it listens everywhere, 0.0.0.0 or ::, that is no host that anybody could
// call, so one of the host's own addresses is taken.
// Threads: none; values.
#pragma once

#include <string>
#include <vector>

#include "orb/os/host.h"

namespace corelane::core {

struct AdvertisedHost {
  std::string host;
  std::string remark;  // one line for the log when the host was chosen here; else ""
};

// `bound`: what the server listens on, as a number. `configured`: endpoint.host, or "". `addresses`: this host's.
// For 0.0.0.0 the first IPv4 address beyond loopback and link-local, for :: the first such IPv6 address, or IPv4, which
// that socket serves as well; loopback where there is none.
AdvertisedHost advertised_host(const std::string& bound, const std::string& configured,
                               const std::vector<os::HostAddress>& addresses);

}  // namespace corelane::core
