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

namespace corelane::core {

// HostView identifies the host and the file system of a process. From it a client can tell whether it can reach a
// server through Unix sockets and channels.
struct HostView {
  std::string boot_id;                // of the kernel
  std::uint64_t mount_namespace = 0;  // processes with equal values see the same files
  std::string name{};                 // of the host; omniORB compares only this

  static const HostView& of_process();
};

// Says whether a server can be reached through a Unix socket, and if not, why.
enum class SameHost : std::uint8_t { yes, no_socket_named, other_host, other_namespace };
// Returns a text for the log, worded as the end of a sentence.
std::string_view text_of(SameHost same_host) noexcept;

// Address says where requests for an object go. It holds one decoded IIOP profile.
struct Address {
  giop::Version version;
  std::vector<transport::Endpoint>
      endpoints;  // in the order of preference: channels, Unix sockets of this host, then TCP
  SameHost same_host = SameHost::no_socket_named;
  std::vector<std::byte> object_key;
  std::uint32_t profile_tag = 0;
  std::vector<std::byte> profile;  // content of the profile, for servers that ask for it
  giop::CodeSetAgreement code_sets;
};

// Returns one address for each readable IIOP profile, in the same order. If there is none, returns one for the first
// UIOP profile (of TAO).
std::vector<Address> addresses_of(const giop::Ior& ior, const HostView& here = HostView::of_process());
// Returns the first of them; nothing if there is none.
std::optional<Address> address_of(const giop::Ior& ior, const HostView& here = HostView::of_process());

// Makes the profile of an object that is served at these endpoints. The first TCP endpoint becomes its address, and the
// other TCP endpoints become alternate addresses. Unix sockets and channels become components. Without a TCP endpoint
// the address is empty, so that no client connects to a wrong server.
giop::TaggedProfile profile_of(const std::vector<transport::Endpoint>& endpoints, Bytes object_key,
                               const HostView& here = HostView::of_process());

}  // namespace corelane::core
