#include "orb/core/connections/reach.h"

#include <algorithm>
#include <utility>

#include "orb/transport/transport_kind.h"

namespace corelane::core {

std::vector<Address> within(const Reach& reach, std::vector<Address> addresses,
                            std::span<const transport::Endpoint> own) {
  if (!reach.is_limited) return addresses;
  const auto is_excluded = [&](const transport::Endpoint& endpoint) {
    if (std::find(own.begin(), own.end(), endpoint) != own.end()) return true;
    return endpoint.kind->of_this_host && !(reach.user && endpoint.kind->checks_user);
  };
  for (Address& address : addresses) {
    std::erase_if(address.endpoints, is_excluded);
    for (transport::Endpoint& endpoint : address.endpoints)
      if (endpoint.kind->checks_user) endpoint.user = reach.user;
  }
  std::erase_if(addresses, [](const Address& address) { return address.endpoints.empty(); });
  return addresses;
}

bool is_to_this_process(const transport::Endpoint& local, const transport::Endpoint& peer,
                        std::span<const transport::Endpoint> own) {
  if (peer.kind != &transport::kinds::tcp) return false;
  const bool is_own_port = std::any_of(own.begin(), own.end(), [&](const transport::Endpoint& endpoint) {
    return endpoint.kind == peer.kind && endpoint.port == peer.port;
  });
  // The kernel chooses the address of this end. To an address of this host it is the same address, or another loopback
  // address.
  return is_own_port &&
         (peer.host == local.host || peer.host.starts_with("127.") || peer.host.starts_with("::ffff:127."));
}

}  // namespace corelane::core
