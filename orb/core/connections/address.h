// Address holds what calls need from an object reference: the endpoints that this process can reach, in the order in
// which it tries them. profile_of() makes the profile of an object that this process serves. CORBA 3.3 part 2, 9.7.2;
// docs/wire.md.
//
// Threads: any. All types are values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orb/base/bytes.h"
#include "orb/base/error.h"
#include "orb/giop/code_sets.h"
#include "orb/giop/ior.h"
#include "orb/giop/message.h"
#include "orb/transport/endpoint.h"
#include "orb/transport/host_view.h"

namespace corelane::core {

using transport::HostView;
using transport::SameHost;

// Returns a text for the log, worded as the end of a sentence.
std::string_view text_of(SameHost same_host) noexcept;

// Address says where requests for an object go. It holds one decoded IIOP profile.
struct Address {
  giop::Version version;
  std::vector<transport::Endpoint> endpoints;  // in the order of preference, that of transport::transport_kinds()
  SameHost same_host = SameHost::no_socket_named;
  std::vector<std::byte> object_key;
  std::uint32_t profile_tag = 0;
  std::vector<std::byte> profile;  // content of the profile, for servers that ask for it
  giop::CodeSetAgreement code_sets;
};

// Returns one address for each readable IIOP profile, in the same order. If there is none, returns one for the first
// other profile that a transport reads (UIOP, of TAO).
std::vector<Address> addresses_of(const giop::Ior& ior, const HostView& here = HostView::of_process());
// Returns the first of them; nothing if there is none.
std::optional<Address> address_of(const giop::Ior& ior, const HostView& here = HostView::of_process());

// Makes the profile of an object that is served at these endpoints. The first TCP endpoint becomes its address, and all
// others become components, as their kinds write them. Without a TCP endpoint the address is empty, so that no client
// connects to a wrong server.
giop::TaggedProfile profile_of(const std::vector<transport::Endpoint>& endpoints, Bytes object_key,
                               const HostView& here = HostView::of_process());

}  // namespace corelane::core
