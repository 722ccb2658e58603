#include "orb/transport/detail/path_endpoint.h"

#include <sys/un.h>

#include <utility>

namespace corelane::transport {
namespace {

static_assert(sizeof(sockaddr_un::sun_path) == longest_unix_path + 1);

SameHost compare(const giop::UnixAddress& there, const HostView& here) noexcept {
  if (here.boot_id.empty() || there.boot_id != here.boot_id) return SameHost::other_host;
  return there.mount_namespace == here.mount_namespace ? SameHost::yes : SameHost::other_namespace;
}

}  // namespace

ParsedEndpoint parse_path(const TransportKind& kind, std::string_view path) {
  if (path.empty()) return Endpoint{.kind = &kind};
  if (path.front() != '/')
    return endpoint_fault("an absolute path such as " + std::string(kind.prefix) + "/run/plant.sock, not " +
                          quoted(path));
  if (path.back() == '/') return endpoint_fault("the name of a socket after the last slash of " + quoted(path));
  if (path.find('\0') != path.npos) return endpoint_fault("a path without NUL");
  if (path.size() > longest_unix_path)
    return endpoint_fault("a socket path of at most " + std::to_string(longest_unix_path) +
                          " bytes, the system's limit; " + quoted(path) + " has " + std::to_string(path.size()) +
                          ": take a shorter directory");
  return Endpoint{.kind = &kind, .path = std::string(path)};
}

std::string print_path(const Endpoint& endpoint) { return std::string(endpoint.kind->prefix) + endpoint.path; }

void add_paths(const TransportKind& kind, const std::vector<giop::UnixAddress>& addresses, const HostView& here,
               Reachable& found) {
  for (const giop::UnixAddress& at : addresses) {  // bound: limits.components
    found.same_host = compare(at, here);
    if (found.same_host != SameHost::yes) break;
    found.endpoints.push_back({.kind = &kind, .path = at.path});
  }
}

giop::UnixAddress told_path(const Endpoint& endpoint, const HostView& here) {
  return {.boot_id = here.boot_id, .mount_namespace = here.mount_namespace, .path = endpoint.path};
}

ShownComponent show_path(const TransportKind& kind, std::string name, const std::vector<giop::UnixAddress>& addresses) {
  if (addresses.size() != 1)
    return {.name = std::move(name), .content = "malformed, or of a later version", .endpoint = {}};
  const giop::UnixAddress& at = addresses.front();
  return {.name = std::move(name),
          .content = at.path + " (boot " + at.boot_id + ", mount namespace " + std::to_string(at.mount_namespace) + ")",
          .endpoint = std::string(kind.name) + " " + at.path};
}

}  // namespace corelane::transport
