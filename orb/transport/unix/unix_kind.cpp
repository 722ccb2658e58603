// Unix-domain sockets as a kind of transport: their endpoints as text and in references. docs/wire.md.
#include <fcntl.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>

#include "orb/transport/detail/address.h"
#include "orb/transport/detail/connection_limiter.h"
#include "orb/transport/detail/path_endpoint.h"
#include "orb/transport/transport_kind.h"
#include "orb/transport/transport_options.h"
#include "orb/transport/unix/unix.h"

namespace corelane::transport {
namespace {

ParsedEndpoint parse_unix(std::string_view path) { return parse_path(kinds::unix_socket, path); }

SameHost compare_names(const giop::NamedUnixAddress& there, const HostView& here) noexcept {
  return !here.name.empty() && there.host == here.name ? SameHost::yes : SameHost::other_host;
}

// Reads Corelane's components first, then those of omniORB, which name the host.
void read_unix(const giop::IiopProfile& profile, const HostView& here, Reachable& found) {
  add_paths(kinds::unix_socket, giop::unix_addresses_of(profile), here, found);
  for (const giop::NamedUnixAddress& at : giop::omniorb_unix_addresses_of(profile)) {  // bound: limits.components
    found.same_host = compare_names(at, here);
    if (found.same_host != SameHost::yes) break;
    found.endpoints.push_back(unix_endpoint(at.path));
  }
}

void write_unix(const Endpoint& endpoint, const HostView& here, giop::IiopProfile& profile) {
  profile.components.push_back(giop::make_unix_address(told_path(endpoint, here)));
}

std::optional<ShownComponent> show_unix(const giop::TaggedComponent& component) {
  if (component.tag == giop::component::unix_socket)
    return show_path(kinds::unix_socket, "Unix socket (Corelane)", giop::unix_addresses_of(alone(component)));
  if (component.tag != giop::component::omniorb_unix) return std::nullopt;
  const auto found = giop::omniorb_unix_addresses_of(alone(component));
  if (found.size() != 1) return ShownComponent{.name = "Unix socket (omniORB)", .content = "malformed", .endpoint = {}};
  return ShownComponent{.name = "Unix socket (omniORB)",
                        .content = found[0].path + " on host " + found[0].host,
                        .endpoint = "unix " + found[0].path + " (omniORB's)"};
}

// Reads the profile of a TAO server that listens only at a Unix socket. It does not name the server's host. On another
// host nothing answers at the path.
std::optional<giop::IiopProfile> read_uiop(const giop::TaggedProfile& profile, Endpoint& endpoint) {
  std::string path;
  auto parsed = giop::parse_uiop(profile, path);
  if (!parsed) return std::nullopt;
  endpoint = unix_endpoint(std::move(path));
  return std::move(*parsed);
}

// Judges by the socket's file.
std::string why_silent(const Endpoint& socket) {
  if (faccessat(AT_FDCWD, socket.path.c_str(), W_OK, AT_EACCESS) == 0) return "its Unix socket did not answer";
  if (errno == EACCES) return "its Unix socket is not for this user (endpoint.unix_mode of the server)";
  return std::string("its Unix socket: ") + std::strerror(errno);
}

// Returns an endpoint with the path; "" if there is none.
std::optional<Endpoint> unix_endpoint_of(const Address& address) {
  if (address.family() != AF_UNIX) return std::nullopt;
  constexpr socklen_t path_offset = offsetof(sockaddr_un, sun_path);
  const auto& un = reinterpret_cast<const sockaddr_un&>(address.storage);
  const std::size_t size = address.length > path_offset ? address.length - path_offset : 0;
  return unix_endpoint(std::string(un.sun_path, strnlen(un.sun_path, std::min(size, sizeof un.sun_path))));
}

std::unique_ptr<Transport> make_unix(Reactor& reactor, const TransportOptions& options, const ConnectionLimits& limits,
                                     const std::shared_ptr<ConnectionLimiter>& limiter) {
  return std::make_unique<UnixTransport>(reactor, options.unix_sockets, limits, limiter);
}

}  // namespace

namespace kinds {

extern const TransportKind unix_socket{
    .name = "unix",
    .prefix = "unix:",
    .example = "unix:/run/plant.sock",
    .help = "a Unix socket. unix: alone chooses a path in the runtime directory",
    .of_this_host = true,
    .offered_unasked = true,
    .checks_user = true,
    .parse = parse_unix,
    .print = print_path,
    .read = read_unix,
    .write = write_unix,
    .show = show_unix,
    .read_profile = read_uiop,
    .why_silent = why_silent,
    .endpoint_of = unix_endpoint_of,
    .make = make_unix,
};

}  // namespace kinds
}  // namespace corelane::transport
