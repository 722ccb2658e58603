// Address: what a reference says of the way to its object, made ready for calls: which endpoints this process can reach
// and in which order it tries them; and the profile of an object that this process serves.
// CORBA 3.3 part 2, 9.7.2; docs/wire.md.
//
// Threads: values; any.
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

namespace corelane::core {

// Where this process is, as far as it matters to whoever wants to reach it by other ways than the network.
struct HostView {
  std::string boot_id;                // of the kernel
  std::uint64_t mount_namespace = 0;  // equal ones see the same files
  std::string name{};                 // of the host; all that omniORB goes by

  static const HostView& of_process();
};

// Whether a server can be reached by a Unix socket, and if not, why.
enum class SameHost : std::uint8_t { yes, no_socket_named, other_host, other_namespace };
// As the end of a sentence for the log.
std::string_view text_of(SameHost same_host) noexcept;

// Where requests for an object go: one IIOP profile, made ready.
struct Address {
  giop::Version version;
  std::vector<transport::Endpoint>
      endpoints;  // in the order of preference: channels, Unix sockets of this host, then TCP
  SameHost same_host = SameHost::no_socket_named;
  std::vector<std::byte> object_key;
  std::uint32_t profile_tag = 0;
  std::vector<std::byte> profile;  // its content, for servers that ask for it
  giop::CodeSetAgreement code_sets;
};

// One for each IIOP profile that can be read, in their order; where there is none, one for the first of TAO's UIOP.
std::vector<Address> addresses_of(const giop::Ior& ior, const HostView& here = HostView::of_process());
// The first of them; nothing when there is none.
std::optional<Address> address_of(const giop::Ior& ior, const HostView& here = HostView::of_process());

// The profile of an object served at these endpoints: the first of TCP as its address, the others as alternates, Unix
// sockets and channels as components. Without any of TCP the address is empty, which leads nobody anywhere else.
giop::TaggedProfile profile_of(const std::vector<transport::Endpoint>& endpoints, Bytes object_key,
                               const HostView& here = HostView::of_process());

}  // namespace corelane::core
