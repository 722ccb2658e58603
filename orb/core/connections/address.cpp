#include "orb/core/connections/address.h"

#include <algorithm>
#include <utility>

#include "orb/giop/code_sets.h"
#include "orb/os/machine/host.h"

namespace corelane::core {
namespace {

using transport::Endpoint;
using transport::EndpointKind;

giop::CodeSetAgreement code_sets_of(const giop::IiopProfile& profile) {
  const giop::TaggedComponent* component = giop::find_component(profile.components, giop::component::code_sets);
  if (component == nullptr) return {};
  const auto theirs = giop::parse_code_sets(component->data);
  return giop::agree_on_code_sets(theirs ? &*theirs : nullptr);  // an unreadable component counts as absent
}

SameHost compare(const giop::UnixAddress& there, const HostView& here) noexcept {
  if (here.boot_id.empty() || there.boot_id != here.boot_id) return SameHost::other_host;
  return there.mount_namespace == here.mount_namespace ? SameHost::yes : SameHost::other_namespace;
}

SameHost compare(const giop::NamedUnixAddress& there, const HostView& here) noexcept {
  return !here.name.empty() && there.host == here.name ? SameHost::yes : SameHost::other_host;
}

void add_paths(EndpointKind kind, const auto& addresses, const HostView& here, Address& address) {
  for (const auto& at : addresses) {  // bound: limits.components
    address.same_host = compare(at, here);
    if (address.same_host != SameHost::yes) break;
    address.endpoints.push_back({.kind = kind, .path = at.path});
  }
}

void add_endpoints(const giop::IiopProfile& profile, const HostView& here, Address& address) {
  add_paths(EndpointKind::channel, giop::channel_addresses_of(profile), here, address);
  add_paths(EndpointKind::unix_socket, giop::unix_addresses_of(profile), here, address);
  add_paths(EndpointKind::unix_socket, giop::omniorb_unix_addresses_of(profile), here, address);
  for (const giop::IiopAddress& at : giop::addresses_of(profile))
    if (at.port != 0) address.endpoints.push_back({at.host, at.port});
}

Address without_endpoints(const giop::TaggedProfile& tagged, const giop::IiopProfile& profile) {
  return {.version = std::min(profile.version, giop::giop_1_2),
          .endpoints = {},
          .object_key = profile.object_key,
          .profile_tag = tagged.tag,
          .profile = tagged.data,
          .code_sets = code_sets_of(profile)};
}

// Returns the address of a TAO server that listens only at a Unix socket. The profile does not name the server's host.
// On another host nothing answers at the path.
std::optional<Address> address_of_uiop(const giop::Ior& ior) {
  for (const giop::TaggedProfile& tagged : ior.profiles) {
    std::string path;
    const auto profile = giop::parse_uiop(tagged, path);
    if (!profile) continue;
    Address address = without_endpoints(tagged, *profile);
    address.same_host = SameHost::yes;
    address.endpoints.push_back({.kind = EndpointKind::unix_socket, .path = std::move(path)});
    return address;
  }
  return std::nullopt;
}

}  // namespace

const HostView& HostView::of_process() {
  static const HostView view{
      .boot_id = os::this_host().boot_id, .mount_namespace = os::mount_namespace(), .name = os::host_name()};
  return view;
}

std::string_view text_of(SameHost same_host) noexcept {
  switch (same_host) {
    case SameHost::yes:
      return "the server is on this host";
    case SameHost::no_socket_named:
      return "the reference names no Unix socket and no channel";
    case SameHost::other_host:
      return "the server is on another host";
    case SameHost::other_namespace:
      return "the server is on this host and sees other files (another mount namespace)";
  }
  return "";
}

std::vector<Address> addresses_of(const giop::Ior& ior, const HostView& here) {
  std::vector<Address> all;
  for (const giop::TaggedProfile& tagged : ior.profiles) {
    if (tagged.tag != giop::profile::iiop) continue;
    const auto profile = giop::parse_iiop(tagged);
    if (!profile) continue;
    Address address = without_endpoints(tagged, *profile);
    add_endpoints(*profile, here, address);
    all.push_back(std::move(address));
  }
  if (all.empty())
    if (auto address = address_of_uiop(ior)) all.push_back(std::move(*address));
  return all;
}

std::optional<Address> address_of(const giop::Ior& ior, const HostView& here) {
  std::vector<Address> all = addresses_of(ior, here);
  return all.empty() ? std::nullopt : std::optional(std::move(all.front()));
}

giop::TaggedProfile profile_of(const std::vector<Endpoint>& endpoints, Bytes object_key, const HostView& here) {
  giop::IiopProfile profile;
  profile.object_key.assign(object_key.begin(), object_key.end());
  profile.components = {giop::make_orb_type(), giop::make_code_sets(giop::our_code_sets())};
  bool has_address = false;
  for (const Endpoint& endpoint : endpoints) {  // bound: endpoint.listen
    const giop::IiopAddress address{endpoint.host, endpoint.port};
    const giop::UnixAddress path{
        .boot_id = here.boot_id, .mount_namespace = here.mount_namespace, .path = endpoint.path};
    if (endpoint.kind == EndpointKind::unix_socket) {
      profile.components.push_back(giop::make_unix_address(path));
    } else if (endpoint.kind == EndpointKind::channel) {
      profile.components.push_back(giop::make_channel_address(path));
    } else if (std::exchange(has_address, true)) {
      profile.components.push_back(giop::make_alternate_address(address));
    } else {
      profile.address = address;
    }
  }
  return giop::make_profile(profile);
}

}  // namespace corelane::core
