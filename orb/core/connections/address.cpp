#include "orb/core/connections/address.h"

#include <algorithm>
#include <utility>

#include "orb/giop/code_sets.h"
#include "orb/transport/transport_kind.h"

namespace corelane::core {
namespace {

using transport::Endpoint;
using transport::TransportKind;

giop::CodeSetAgreement code_sets_of(const giop::IiopProfile& profile) {
  const giop::TaggedComponent* component = giop::find_component(profile.components, giop::component::code_sets);
  if (component == nullptr) return {};
  const auto theirs = giop::parse_code_sets(component->data);
  return giop::agree_on_code_sets(theirs ? &*theirs : nullptr);  // an unreadable component counts as absent
}

// Adds the endpoints of each kind of transport, in the order of the kinds.
void add_endpoints(const giop::IiopProfile& profile, const HostView& here, Address& address) {
  transport::Reachable found;
  for (const TransportKind* const kind : transport::transport_kinds()) kind->read(profile, here, found);
  address.endpoints = std::move(found.endpoints);
  address.same_host = found.same_host;
}

Address without_endpoints(const giop::TaggedProfile& tagged, const giop::IiopProfile& profile) {
  return {.version = std::min(profile.version, giop::giop_1_2),
          .endpoints = {},
          .object_key = profile.object_key,
          .profile_tag = tagged.tag,
          .profile = tagged.data,
          .code_sets = code_sets_of(profile)};
}

// Returns the address of the first profile that is not IIOP and that a kind of transport reads.
std::optional<Address> address_of_other_profile(const giop::Ior& ior) {
  for (const giop::TaggedProfile& tagged : ior.profiles) {  // bound: limits.profiles
    for (const TransportKind* const kind : transport::transport_kinds()) {
      Endpoint endpoint;
      const auto profile = kind->read_profile != nullptr ? kind->read_profile(tagged, endpoint) : std::nullopt;
      if (!profile) continue;
      Address address = without_endpoints(tagged, *profile);
      if (kind->of_this_host) address.same_host = SameHost::yes;
      address.endpoints.push_back(std::move(endpoint));
      return address;
    }
  }
  return std::nullopt;
}

}  // namespace

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
    if (auto address = address_of_other_profile(ior)) all.push_back(std::move(*address));
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
  for (const Endpoint& endpoint : endpoints) endpoint.kind->write(endpoint, here, profile);  // bound: endpoint.listen
  return giop::make_profile(profile);
}

}  // namespace corelane::core
