// vsock as a kind of transport: its endpoints as text and in references. docs/wire.md.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "orb/cdr/reader.h"
#include "orb/cdr/writer.h"
#include "orb/transport/detail/connection_limiter.h"
#include "orb/transport/detail/endpoint_text.h"
#include "orb/transport/transport_kind.h"
#include "orb/transport/vsock/vsock.h"

namespace corelane::transport {
namespace {

constexpr std::uint32_t component_tag = 0x434C4E03;
constexpr std::uint8_t component_version = 1;

// The content of the component.
struct ToldVsock {
  std::string boot_id;  // of the server's kernel
  VsockAddress address;
};

// Parses "CID:PORT", ":PORT" or "".
ParsedEndpoint parse_vsock(std::string_view text) {
  if (text.empty()) return vsock_endpoint({});
  const std::size_t colon = text.find(':');
  const std::string_view cid = text.substr(0, colon);
  const std::string_view port = colon == text.npos ? std::string_view{} : text.substr(colon + 1);
  Endpoint endpoint = vsock_endpoint({});
  if (!cid.empty()) endpoint.host = "vsock:" + std::string(cid);
  endpoint.path = port;
  auto address = vsock_address(endpoint);
  if (port.empty() || !address)
    return endpoint_fault("a CID and a port, numbers below 4294967295 such as vsock:2:5000, not " + quoted(text));
  if (address->port == 0) address->port = VsockAddress::any;
  return vsock_endpoint(*address);
}

std::string print_vsock(const Endpoint& endpoint) {
  if (endpoint.host.empty()) return endpoint.path.empty() ? "vsock:" : "vsock::" + endpoint.path;
  return endpoint.host + ":" + (endpoint.path.empty() ? "0" : endpoint.path);
}

std::optional<ToldVsock> parse_component(const giop::TaggedComponent& component) {
  cdr::Reader reader = cdr::Reader::of_encapsulation(component.data);
  std::uint8_t version = 0;
  std::string_view boot_id;
  ToldVsock told;
  if (!reader.read(version) || version != component_version || !reader.read_string(boot_id) ||
      !reader.read(told.address.cid) || !reader.read(told.address.port))
    return std::nullopt;
  if (told.address.cid == VsockAddress::any || told.address.port == VsockAddress::any) return std::nullopt;
  told.boot_id = boot_id;
  return told;
}

// Adds the endpoints of other machines, and those at the loopback of this one. A guest's CID means another machine on
// each host, and the reference does not name the host.
void read_vsock(const giop::IiopProfile& profile, const HostView& here, Reachable& found) {
  for (const giop::TaggedComponent& component : profile.components) {  // bound: limits.components
    if (component.tag != component_tag) continue;
    const auto told = parse_component(component);
    if (!told) continue;
    const bool is_here = !here.boot_id.empty() && told->boot_id == here.boot_id;
    if (told->address.cid == VsockAddress::own_machine && !is_here) continue;
    found.endpoints.push_back(vsock_endpoint(told->address));
  }
}

void write_vsock(const Endpoint& endpoint, const HostView& here, giop::IiopProfile& profile) {
  const auto address = vsock_address(endpoint);
  if (!address || address->cid == VsockAddress::any || address->port == VsockAddress::any) return;
  cdr::Writer writer;
  writer.write_order();
  writer.write(component_version);
  writer.write_string(here.boot_id);
  writer.write(address->cid);
  writer.write(address->port);
  profile.components.push_back({component_tag, writer.to_vector()});
}

std::optional<ShownComponent> show_vsock(const giop::TaggedComponent& component) {
  if (component.tag != component_tag) return std::nullopt;
  const auto told = parse_component(component);
  if (!told)
    return ShownComponent{.name = "vsock (Corelane)", .content = "malformed, or of a later version", .endpoint = {}};
  const std::string at = std::to_string(told->address.cid) + ":" + std::to_string(told->address.port);
  return ShownComponent{
      .name = "vsock (Corelane)", .content = at + " (boot " + told->boot_id + ")", .endpoint = "vsock " + at};
}

std::unique_ptr<Transport> make_vsock(Reactor& reactor, const TransportOptions&, const ConnectionLimits& limits,
                                      const std::shared_ptr<ConnectionLimiter>& limiter) {
  return std::make_unique<VsockTransport>(reactor, limits, limiter);
}

}  // namespace

namespace kinds {

extern const TransportKind vsock{
    .name = "vsock",
    .prefix = "vsock:",
    .example = "vsock:2:5000",
    .help =
        "from a virtual machine to its host (CID 2), and back (the CID of the machine). Port 0 is any free one. "
        "vsock: alone listens at every CID of this machine",
    .parse = parse_vsock,
    .print = print_vsock,
    .read = read_vsock,
    .write = write_vsock,
    .show = show_vsock,
    .endpoint_of = vsock_endpoint_of,
    .make = make_vsock,
};

}  // namespace kinds
}  // namespace corelane::transport
