#include "orb/core/advertised_host.h"

#include <algorithm>

namespace corelane::core {
namespace {

const os::HostAddress* first_of(const std::vector<os::HostAddress>& addresses, bool ipv6) {
  const auto found = std::find_if(addresses.begin(), addresses.end(), [&](const os::HostAddress& address) {
    return address.ipv6 == ipv6 && !address.loopback && !address.link_local;
  });
  return found == addresses.end() ? nullptr : &*found;
}

}  // namespace

AdvertisedHost advertised_host(const std::string& bound, const std::string& configured,
                               const std::vector<os::HostAddress>& addresses) {
  if (!configured.empty()) return {configured, {}};
  const bool ipv6 = bound == "::";
  if (!ipv6 && bound != "0.0.0.0") return {bound, {}};
  const os::HostAddress* found = first_of(addresses, ipv6);
  if (found == nullptr && ipv6) found = first_of(addresses, false);
  const std::string host = found != nullptr ? found->text : ipv6 ? "::1" : "127.0.0.1";
  return {host, "references name " + host +
                    (found != nullptr ? ", the first of this host's addresses"
                                      : ", which this host alone can call: it has no other address") +
                    ", since " + bound + " is none; name another with -ORBEndpointHost or endpoint.host"};
}

}  // namespace corelane::core
