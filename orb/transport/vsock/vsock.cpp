#include "orb/transport/vsock/vsock.h"

#include <fcntl.h>
#include <linux/vm_sockets.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/os/fd.h"
#include "orb/os/log.h"
#include "orb/transport/detail/address.h"
#include "orb/transport/detail/connection_limiter.h"
#include "orb/transport/detail/reactor_impl.h"
#include "orb/transport/detail/socket.h"
#include "orb/transport/detail/socket_link.h"
#include "orb/transport/detail/stream_listener.h"
#include "orb/transport/stream/stream_connection.h"
#include "orb/transport/transport_kind.h"

namespace corelane::transport {

namespace kinds {
extern const TransportKind vsock;
}  // namespace kinds

namespace {

static_assert(VsockAddress::any == VMADDR_CID_ANY && VsockAddress::any == VMADDR_PORT_ANY);

constexpr std::string_view host_prefix = "vsock:";

Address native_address(const VsockAddress& from) noexcept {
  Address address{.length = sizeof(sockaddr_vm)};
  auto& vm = reinterpret_cast<sockaddr_vm&>(address.storage);
  vm.svm_family = AF_VSOCK;
  vm.svm_cid = from.cid;
  vm.svm_port = from.port;
  return address;
}

// Parses a number below `any`; "" is `any`.
std::optional<std::uint32_t> number_or_any(std::string_view text) noexcept {
  std::uint32_t number = VsockAddress::any;
  if (text.empty()) return number;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc{} || end != text.data() + text.size() || number == VsockAddress::any) return std::nullopt;
  return number;
}

// Returns the CID of this machine; `any` if the system does not tell it.
std::uint32_t own_cid() noexcept {
  std::uint32_t cid = VsockAddress::any;
  const os::Fd device(::open("/dev/vsock", O_RDONLY | O_CLOEXEC));
  if (!device || ::ioctl(device.get(), IOCTL_VM_SOCKETS_GET_LOCAL_CID, &cid) != 0) return VsockAddress::any;
  return cid;
}

// Returns the endpoint at which the socket listens, with the CID by which clients can call it.
Endpoint bound_endpoint(int fd) {
  VsockAddress bound = vsock_address(local_endpoint(fd)).value_or(VsockAddress{});
  if (bound.cid != VsockAddress::any) return vsock_endpoint(bound);
  bound.cid = own_cid();
  const Endpoint endpoint = vsock_endpoint(bound);
  if (bound.cid == VsockAddress::any)
    os::log::warn("references do not name " + to_string(endpoint) +
                  ", because /dev/vsock does not tell this process the CID of its machine: name the CID in "
                  "endpoint.listen");
  return endpoint;
}

}  // namespace

Endpoint vsock_endpoint(const VsockAddress& address) {
  const auto text = [](std::uint32_t number) { return number == VsockAddress::any ? "" : std::to_string(number); };
  const std::string cid = text(address.cid);
  return {
      .host = cid.empty() ? cid : std::string(host_prefix) + cid, .kind = &kinds::vsock, .path = text(address.port)};
}

std::optional<VsockAddress> vsock_address(const Endpoint& endpoint) {
  std::string_view host = endpoint.host;
  if (endpoint.kind != &kinds::vsock || (!host.empty() && !host.starts_with(host_prefix))) return std::nullopt;
  if (!host.empty()) host.remove_prefix(host_prefix.size());
  const auto cid = number_or_any(host), port = number_or_any(endpoint.path);
  if (!cid || !port) return std::nullopt;
  return VsockAddress{.cid = *cid, .port = *port};
}

std::optional<Endpoint> vsock_endpoint_of(const Address& address) {
  if (address.family() != AF_VSOCK) return std::nullopt;
  const auto& vm = reinterpret_cast<const sockaddr_vm&>(address.storage);
  return vsock_endpoint({.cid = vm.svm_cid, .port = vm.svm_port});
}

std::string_view listening_remedy(const Error& error) noexcept {
  switch (error.minor) {
    case minor::address_in_use:
      return "the port is taken: `ss -lp --vsock` shows which process has it, and vsock: takes a free port";
    case minor::listen_denied:
      return "ports below 1024 need the capability CAP_NET_BIND_SERVICE; take a higher port";
    case minor::address_not_here:
      return "the CID must be that of this machine, or none";
    case minor::no_descriptor:
      return minor::text(minor::no_descriptor);
    default:
      return "the CID must be that of this machine, or none, and the kernel must have vsock";
  }
}

VsockTransport::VsockTransport(Reactor& reactor, ConnectionLimits limits, std::shared_ptr<ConnectionLimiter> limiter)
    : parts_(reactor, limits, std::move(limiter)) {}

VsockTransport::~VsockTransport() = default;

Expected<std::shared_ptr<Connection>> VsockTransport::connect(const Endpoint& endpoint, Time deadline) {
  const auto to = vsock_address(endpoint);
  if (!to || to->cid == VsockAddress::any || to->port == VsockAddress::any) return errors::bad_address;
  ConnectStop* const stop = parts_.limits.connect_stop.get();
  auto fd = connect_stream(native_address(*to), deadline, stop);
  if (!fd) return fd.error();
  // The kernel reports no error for a socket that was shut down while it connected.
  if (stop != nullptr && stop->stopped()) return errors::connect_failed;
  return std::shared_ptr<Connection>(
      StreamConnection::make(std::make_unique<SocketLink>(std::move(*fd)), parts_.reactor, parts_.limits));
}

Expected<std::unique_ptr<Listener>> VsockTransport::listen(const Endpoint& endpoint, Acceptor acceptor) {
  const auto at = vsock_address(endpoint);
  if (!at) return errors::bad_address;
  auto fd = listen_stream(native_address(*at));
  if (!fd) {
    os::log::error("cannot listen at " + to_string(endpoint) + ": " + std::string(listening_remedy(fd.error())));
    return fd.error();
  }
  Endpoint bound = bound_endpoint(fd->get());
  auto loop = std::make_shared<AcceptLoop>(std::move(*fd), std::nullopt, parts_.reactor, parts_.limiter, parts_.limits,
                                           std::move(acceptor));
  return StreamListener::start(std::move(loop), std::move(bound));
}

}  // namespace corelane::transport
