// TCP as a kind of transport: its endpoints as text and in references. CORBA 3.3 part 2, 9.7.2.
#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "orb/transport/detail/address.h"
#include "orb/transport/detail/connection_limiter.h"
#include "orb/transport/detail/endpoint_text.h"
#include "orb/transport/detail/path_endpoint.h"
#include "orb/transport/tcp/tcp.h"
#include "orb/transport/transport_kind.h"

namespace corelane::transport {
namespace {

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

bool is_name_or_empty(std::string_view host) { return std::ranges::all_of(host, is_name_character); }

// Returns whether the text is an address, optionally with a scope: fe80::1%eth0.
bool is_ipv6(std::string_view host) {
  const std::size_t percent = host.find('%');
  if (percent != std::string_view::npos && (percent + 1 == host.size() || !is_name_or_empty(host.substr(percent + 1))))
    return false;
  in6_addr ignored{};
  return inet_pton(AF_INET6, std::string(host.substr(0, percent)).c_str(), &ignored) == 1;
}

std::optional<std::uint16_t> parse_tcp_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return port;
}

// An IPv6 address needs its brackets. A port needs its digits.
ParsedEndpoint parse_host_and_port(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos)
    return endpoint_fault("an endpoint such as " + endpoint_examples() + "; " + quoted(text) + " has no colon");
  std::string_view host = text.substr(0, colon);
  const auto port = parse_tcp_port(text.substr(colon + 1));
  if (!port) return endpoint_fault("a port from 0 to 65535 after the last colon of " + quoted(text));
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    if (!is_ipv6(host)) return endpoint_fault("an IPv6 address in the brackets of " + quoted(text));
  } else if (is_ipv6(host)) {
    return endpoint_fault("brackets around the IPv6 address, as in [::1]:2809, not " + quoted(text));
  } else if (!is_name_or_empty(host)) {
    return endpoint_fault("a host name or an address before the port, not " + quoted(host));
  }
  return Endpoint{.host = std::string(host), .port = *port};
}

// Names what to leave out of a text of other ORBs, such as iiop://host:port.
ParsedEndpoint parse_tcp(std::string_view text) {
  ParsedEndpoint parsed = parse_host_and_port(text);
  if (parsed) return parsed;
  for (const std::string_view prefix : {"iiop://", "iiop:", "tcp://", "tcp:", "giop:tcp:"})
    if (const auto rest = text.substr(std::min(prefix.size(), text.size()));
        text.starts_with(prefix) && parse_host_and_port(rest))
      return endpoint_fault(std::string(rest) + ", without " + std::string(prefix));
  return parsed;
}

std::string text_of_host(const std::string& host, std::uint16_t port) {
  return (host.find(':') != std::string::npos ? '[' + host + ']' : host) + ':' + std::to_string(port);
}

std::string print_tcp(const Endpoint& endpoint) { return text_of_host(endpoint.host, endpoint.port); }

void read_tcp(const giop::IiopProfile& profile, const HostView&, Reachable& found) {
  for (const giop::IiopAddress& at : giop::addresses_of(profile))
    if (at.port != 0) found.endpoints.push_back({at.host, at.port});
}

// The first endpoint becomes the address of the profile, the others become alternate addresses.
void write_tcp(const Endpoint& endpoint, const HostView&, giop::IiopProfile& profile) {
  const giop::IiopAddress address{endpoint.host, endpoint.port};
  if (profile.address == giop::IiopAddress{}) {
    profile.address = address;
  } else {
    profile.components.push_back(giop::make_alternate_address(address));
  }
}

std::optional<ShownComponent> show_tcp(const giop::TaggedComponent& component) {
  if (component.tag != giop::component::alternate_address) return std::nullopt;
  const auto addresses = giop::addresses_of(alone(component));  // the empty one of the profile comes first
  if (addresses.size() != 2) return ShownComponent{.name = "alternate address", .content = "malformed", .endpoint = {}};
  const std::string text = text_of_host(addresses[1].host, addresses[1].port);
  return ShownComponent{
      .name = "alternate address", .content = text, .endpoint = addresses[1].host.empty() ? "" : "tcp " + text};
}

// Returns numbers, not names. An IPv4 address mapped into IPv6 (::ffff:127.0.0.1) becomes plain IPv4.
std::optional<Endpoint> tcp_endpoint_of(const Address& address) {
  if (address.family() != AF_INET && address.family() != AF_INET6) return std::nullopt;
  char host[INET6_ADDRSTRLEN + IF_NAMESIZE + 1] = "";
  getnameinfo(address.native(), address.length, host, sizeof host, nullptr, 0, NI_NUMERICHOST);
  std::string text = host;
  if (text.starts_with("::ffff:") && text.find('.') != std::string::npos) text.erase(0, 7);
  const bool v6 = address.family() == AF_INET6;
  const std::uint16_t port = v6 ? reinterpret_cast<const sockaddr_in6&>(address.storage).sin6_port
                                : reinterpret_cast<const sockaddr_in&>(address.storage).sin_port;
  return Endpoint{.host = std::move(text), .port = ntohs(port)};
}

// Returns each address of a name, with numbers. An address and a name that is not known stay as they are.
std::vector<Endpoint> tcp_places(const Endpoint& endpoint) {
  if (endpoint.host.empty()) return {endpoint};
  const auto addresses = resolve(endpoint, AddressUse::listen, never);
  if (!addresses || addresses->size() < 2) return {endpoint};
  std::vector<Endpoint> places;
  for (const Address& address : *addresses) {
    auto place = tcp_endpoint_of(address);
    if (place && std::ranges::find(places, *place) == places.end()) places.push_back(std::move(*place));
  }
  return places;
}

std::unique_ptr<Transport> make_tcp(Reactor& reactor, const TransportOptions&, const ConnectionLimits& limits,
                                    const std::shared_ptr<ConnectionLimiter>& limiter) {
  return std::make_unique<TcpTransport>(reactor, limits, limiter);
}

}  // namespace

namespace kinds {

extern const TransportKind tcp{
    .name = "tcp",
    .prefix = "",
    .example = "127.0.0.1:2809",
    .help = "TCP. Port 0 is any free one, and :2809 is that port at every address. A name stands for all its addresses",
    .batches_oneways = true,
    .is_iiop = true,
    .parse = parse_tcp,
    .print = print_tcp,
    .read = read_tcp,
    .write = write_tcp,
    .show = show_tcp,
    .endpoint_of = tcp_endpoint_of,
    .places = tcp_places,
    .make = make_tcp,
};

}  // namespace kinds
}  // namespace corelane::transport
