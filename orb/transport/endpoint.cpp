#include "orb/transport/endpoint.h"

#include <arpa/inet.h>
#include <sys/un.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "orb/base/minor.h"

namespace corelane::transport {
namespace {

static_assert(sizeof(sockaddr_un::sun_path) == longest_unix_path + 1);

constexpr std::string_view unix_prefix = "unix:", channel_prefix = "channel:";

using Parsed = Expected<Endpoint, EndpointFault>;
Unexpected<EndpointFault> fault(std::string text) { return Unexpected(EndpointFault{std::move(text)}); }
std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

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

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return port;
}

// Parses what follows the prefix of an endpoint of this kind.
Parsed parse_path(EndpointKind kind, std::string_view prefix, std::string_view path) {
  if (path.empty()) return Endpoint{.kind = kind};
  if (path.front() != '/')
    return fault("an absolute path such as " + std::string(prefix) + "/run/plant.sock, not " + quoted(path));
  if (path.back() == '/') return fault("the name of a socket after the last slash of " + quoted(path));
  if (path.find('\0') != path.npos) return fault("a path without NUL");
  if (path.size() > longest_unix_path)
    return fault("a socket path of at most " + std::to_string(longest_unix_path) + " bytes, the system's limit; " +
                 quoted(path) + " has " + std::to_string(path.size()) + ": take a shorter directory");
  return Endpoint{.kind = kind, .path = std::string(path)};
}

Parsed parse_tcp(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos)
    return fault("host:port such as 127.0.0.1:0 or :2809, or unix:/path; " + quoted(text) + " has no colon");
  std::string_view host = text.substr(0, colon);
  const auto port = parse_port(text.substr(colon + 1));
  if (!port) return fault("a port from 0 to 65535 after the last colon of " + quoted(text));
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    if (!is_ipv6(host)) return fault("an IPv6 address in the brackets of " + quoted(text));
  } else if (is_ipv6(host)) {
    return fault("brackets around the IPv6 address, as in [::1]:2809, not " + quoted(text));
  } else if (!is_name_or_empty(host)) {
    return fault("a host name or an address before the port, not " + quoted(host));
  }
  return Endpoint{.host = std::string(host), .port = *port};
}

Parsed parse(std::string_view text) {
  for (const auto& [prefix, kind] :
       {std::pair{unix_prefix, EndpointKind::unix_socket}, {channel_prefix, EndpointKind::channel}})
    if (text.starts_with(prefix)) return parse_path(kind, prefix, text.substr(prefix.size()));
  return parse_tcp(text);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Returns whether the endpoint names a port or path. Several endpoints may leave the choice to the system, but a named
// one may be there only once.
bool is_named(const Endpoint& endpoint) {
  return endpoint.kind == EndpointKind::tcp ? endpoint.port != 0 : !endpoint.path.empty();
}

}  // namespace

Endpoint unix_endpoint(std::string path) { return {.kind = EndpointKind::unix_socket, .path = std::move(path)}; }
Endpoint channel_endpoint(std::string path) { return {.kind = EndpointKind::channel, .path = std::move(path)}; }

Expected<Endpoint> parse_endpoint(std::string_view text) {
  auto parsed = parse(text);
  if (parsed) return std::move(*parsed);
  return Error{.kind = ErrorKind::bad_param, .minor = minor::bad_address};
}

Expected<std::vector<Endpoint>, EndpointFault> parse_endpoints(std::string_view text) {
  std::vector<Endpoint> endpoints;
  for (bool more = true; more;) {  // bound: the commas of the text
    const std::size_t comma = text.find(',');
    more = comma != text.npos;
    const std::string_view item = trimmed(text.substr(0, comma));
    text.remove_prefix(more ? comma + 1 : text.size());
    if (item.empty()) return fault("an endpoint such as 127.0.0.1:0 or unix:, also between and after commas");
    auto endpoint = parse(item);
    if (!endpoint) return Unexpected(endpoint.error());
    if (is_named(*endpoint) && std::ranges::count(endpoints, *endpoint) > 0)
      return fault("each endpoint once; " + quoted(item) + " is there twice");
    endpoints.push_back(std::move(*endpoint));
  }
  return endpoints;
}

std::string to_string(const Endpoint& endpoint) {
  if (endpoint.kind == EndpointKind::unix_socket) return std::string(unix_prefix) + endpoint.path;
  if (endpoint.kind == EndpointKind::channel) return std::string(channel_prefix) + endpoint.path;
  const bool brackets = endpoint.host.find(':') != std::string::npos;
  const std::string host = brackets ? '[' + endpoint.host + ']' : endpoint.host;
  return host + ':' + std::to_string(endpoint.port);
}

std::string to_string(const std::vector<Endpoint>& endpoints) {
  std::string text;
  for (const Endpoint& endpoint : endpoints) text += (text.empty() ? "" : ", ") + to_string(endpoint);
  return text;
}

}  // namespace corelane::transport
