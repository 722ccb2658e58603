// VsockTransport carries byte streams over AF_VSOCK, between virtual machines and their host, without a network. See
// vsock(7).
//
// A CID is the number by which a hypervisor knows a machine: 2 is the host, and 1 is the own machine. An endpoint has
// the host "vsock:CID" and the port, of 32 bits, as its path. So "vsock:3" names the peer in logs and limits.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "orb/transport/reactor.h"
#include "orb/transport/transport.h"
#include "orb/transport/transport_parts.h"

namespace corelane::transport {

struct Address;

struct VsockAddress {
  static constexpr std::uint32_t any = 0xffff'ffff;  // of both
  static constexpr std::uint32_t own_machine = 1;    // as a CID: only the loopback reaches it

  std::uint32_t cid = any;
  std::uint32_t port = any;
};

// Returns the endpoint of an address. Where that says `any`, the endpoint has "".
Endpoint vsock_endpoint(const VsockAddress& address);
// Returns the address of an endpoint; nothing: the endpoint is of another kind, or malformed.
std::optional<VsockAddress> vsock_address(const Endpoint& endpoint);
// Returns the endpoint of a socket's address; nothing: the address is of another family.
std::optional<Endpoint> vsock_endpoint_of(const Address& address);

// Returns what to do after listening at the endpoint failed with this error.
std::string_view listening_remedy(const Error& error) noexcept;

class VsockTransport final : public Transport {
 public:
  // See TransportParts for `reactor` and `limiter`.
  explicit VsockTransport(Reactor& reactor, ConnectionLimits limits = {},
                          std::shared_ptr<ConnectionLimiter> limiter = nullptr);
  ~VsockTransport() override;

  Expected<std::shared_ptr<Connection>> connect(const Endpoint& endpoint, Time deadline) override;
  // Listens. If the endpoint names no CID, the listener's endpoint has that of this machine, or none if it is not
  // known.
  Expected<std::unique_ptr<Listener>> listen(const Endpoint& endpoint, Acceptor acceptor) override;
  const ConnectionLimits& limits() const noexcept override { return parts_.limits; }

 private:
  const TransportParts parts_;
};

}  // namespace corelane::transport
