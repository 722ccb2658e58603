#include "services/nameserver/stores/etcd/etcd_address.h"

#include <algorithm>
#include <string_view>

namespace corelane::nameserver {
namespace {

constexpr std::string_view plain_scheme = "http://", tls_scheme = "https://";
constexpr const char* default_port = "2379";
constexpr const char* default_prefix = "/corelane/names";

bool is_port(std::string_view text) {
  return !text.empty() && text.size() <= 5 && text.find_first_not_of("0123456789") == std::string_view::npos &&
         std::stoul(std::string(text)) - 1 < 65'535;
}

// The host is copied into HTTP request headers without escaping.
bool is_host(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f' && c != '@' && c != '[' && c != ']'; });
}

// Returns an empty host if the text is not an endpoint.
HttpEndpoint etcd_endpoint_in(std::string_view text) {
  const std::size_t bracket = text.rfind(']'), colon = text.rfind(':');
  const bool has_port = colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  std::string_view host = has_port ? text.substr(0, colon) : text;
  const std::string_view port = has_port ? text.substr(colon + 1) : std::string_view(default_port);
  if (host.size() > 1 && host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (!is_port(port) || !is_host(host)) return {};
  return {std::string(host), std::string(port)};
}

}  // namespace

Expected<EtcdAddress, AddressFault> parse_etcd_address(const std::string& url) {
  const std::string form = ": an etcd is named as http://HOST:PORT[,HOST:PORT...][/PREFIX], or https://";
  const bool is_tls = url.starts_with(tls_scheme);
  if (!is_tls && !url.starts_with(plain_scheme)) return AddressFault{"'" + url + "'" + form};
  const std::string rest = url.substr((is_tls ? tls_scheme : plain_scheme).size());
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  EtcdAddress address{.endpoints = {}, .prefix = rest.substr(slash), .is_tls = is_tls};
  for (std::size_t begin = 0; begin <= slash;) {
    const std::size_t end = std::min(rest.find(',', begin), slash);
    address.endpoints.push_back(etcd_endpoint_in(std::string_view(rest).substr(begin, end - begin)));
    if (address.endpoints.back().host.empty()) return AddressFault{"'" + url + "'" + form};
    begin = end + 1;
  }
  if (address.prefix.size() <= 1) address.prefix = default_prefix;
  if (!address.prefix.ends_with('/')) address.prefix += '/';
  return address;
}

std::string EtcdAddress::text() const {
  std::string text(is_tls ? tls_scheme : plain_scheme);
  for (const HttpEndpoint& endpoint : endpoints) text += (text.ends_with('/') ? "" : ",") + endpoint.text();
  return text + prefix;
}

}  // namespace corelane::nameserver
