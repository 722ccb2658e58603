#include "orb/transport/endpoint.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "orb/base/minor.h"

namespace corelane::transport {
namespace {

constexpr Error bad{.kind = ErrorKind::bad_param, .minor = minor::bad_address};

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

bool is_name_or_empty(std::string_view host) { return std::ranges::all_of(host, is_name_character); }

// An address, optionally with a scope: fe80::1%eth0.
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

}  // namespace

Expected<Endpoint> parse_endpoint(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad;
  std::string_view host = text.substr(0, colon);
  const auto port = parse_port(text.substr(colon + 1));
  if (!port) return bad;
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    if (!is_ipv6(host)) return bad;
  } else if (!is_name_or_empty(host)) {
    return bad;
  }
  return Endpoint{.host = std::string(host), .port = *port};
}

std::string to_string(const Endpoint& endpoint) {
  const bool brackets = endpoint.host.find(':') != std::string::npos;
  const std::string host = brackets ? '[' + endpoint.host + ']' : endpoint.host;
  return host + ':' + std::to_string(endpoint.port);
}

}  // namespace corelane::transport
