#include "orb/core/config/advertised_host.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <system_error>
#include <utility>

namespace corelane::core {
namespace {

const os::HostAddress* first_of(const std::vector<os::HostAddress>& addresses, bool ipv6) {
  const auto found = std::find_if(addresses.begin(), addresses.end(), [&](const os::HostAddress& address) {
    return address.ipv6 == ipv6 && !address.loopback && !address.link_local;
  });
  return found == addresses.end() ? nullptr : &*found;
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == text.npos ? std::string_view{} : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Returns whether no host has this character: a blank, a control character such as NUL, or one of "/[]".
bool ends_host(char c) {
  return static_cast<unsigned char>(c) <= ' ' || c == '\x7f' || c == '/' || c == '[' || c == ']';
}

// Returns a port from 1 to 65535; nothing for other text.
std::optional<std::uint16_t> port_of(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (fault != std::errc{} || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

// Parses "host", "host:port", "[address]:port", "[address]", or a bare IPv6 address, which has at least two colons.
// Returns nothing for other text.
std::optional<transport::Endpoint> parse_one(std::string_view text) {
  std::string_view host = text, port;
  bool has_port = false;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == text.npos) return std::nullopt;
    host = text.substr(1, end - 1);
    const std::string_view rest = text.substr(end + 1);
    if (!rest.empty() && !rest.starts_with(':')) return std::nullopt;
    has_port = !rest.empty();
    if (has_port) port = rest.substr(1);
  } else if (std::count(text.begin(), text.end(), ':') == 1) {
    host = text.substr(0, text.find(':'));
    port = text.substr(text.find(':') + 1);
    has_port = true;
  }
  if (host.empty() || std::ranges::any_of(host, ends_host)) return std::nullopt;
  transport::Endpoint endpoint{.host = std::string(host), .port = 0};
  if (!has_port) return endpoint;
  const auto number = port_of(port);
  if (!number) return std::nullopt;
  endpoint.port = *number;
  return endpoint;
}

}  // namespace

std::vector<transport::Endpoint> parse_advertised(std::string_view text) {
  std::vector<transport::Endpoint> all;
  for (;;) {  // bound: the text's commas
    const std::size_t comma = text.find(',');
    auto one = parse_one(without_blanks(text.substr(0, comma)));
    if (!one) return {};
    all.push_back(std::move(*one));
    if (comma == text.npos) return all;
    text.remove_prefix(comma + 1);
  }
}

bool is_everywhere(const std::string& host) noexcept {
  in_addr v4{};
  in6_addr v6{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return v4.s_addr == INADDR_ANY;
  return inet_pton(AF_INET6, host.c_str(), &v6) == 1 && IN6_IS_ADDR_UNSPECIFIED(&v6);
}

AdvertisedHost advertised_host(const std::string& bound, const std::vector<os::HostAddress>& addresses) {
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
