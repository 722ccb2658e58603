#include "orb/transport/endpoint.h"

#include <algorithm>
#include <utility>

#include "orb/base/minor.h"
#include "orb/transport/detail/endpoint_text.h"
#include "orb/transport/transport_kind.h"

namespace corelane::transport {
namespace {

ParsedEndpoint parse(std::string_view text) {
  for (const TransportKind* const kind : transport_kinds())
    if (!kind->prefix.empty() && text.starts_with(kind->prefix)) return kind->parse(text.substr(kind->prefix.size()));
  return kinds::tcp.parse(text);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Returns whether the endpoint names a port or path. Several endpoints may leave the choice to the system, but a named
// one may be there only once.
bool is_named(const Endpoint& endpoint) { return endpoint.port != 0 || !endpoint.path.empty(); }

}  // namespace

Endpoint unix_endpoint(std::string path) { return {.kind = &kinds::unix_socket, .path = std::move(path)}; }
Endpoint channel_endpoint(std::string path) { return {.kind = &kinds::channel, .path = std::move(path)}; }

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
    if (item.empty()) return endpoint_fault("an endpoint such as 127.0.0.1:0 or unix:, also between and after commas");
    auto endpoint = parse(item);
    if (!endpoint) return Unexpected(endpoint.error());
    if (is_named(*endpoint) && std::ranges::count(endpoints, *endpoint) > 0)
      return endpoint_fault("each endpoint once; " + quoted(item) + " is there twice");
    endpoints.push_back(std::move(*endpoint));
  }
  return endpoints;
}

std::string to_string(const Endpoint& endpoint) { return endpoint.kind->print(endpoint); }

std::string to_string(const std::vector<Endpoint>& endpoints) {
  std::string text;
  for (const Endpoint& endpoint : endpoints) text += (text.empty() ? "" : ", ") + to_string(endpoint);
  return text;
}

std::string endpoint_examples() {
  std::string text;
  const auto all = transport_kinds();
  for (std::size_t i = 0; i < all.size(); ++i)
    text.append(i == 0 ? "" : i + 1 == all.size() ? " or " : ", ").append(all[i]->example);
  return text;
}

std::string endpoint_help() {
  std::string text;
  for (const TransportKind* const kind : transport_kinds())
    text.append(text.empty() ? "" : ". ").append(kind->example).append(": ").append(kind->help);
  return text;
}

}  // namespace corelane::transport
