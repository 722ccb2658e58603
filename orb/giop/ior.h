// Ior is an interoperable object reference. This header has its CDR form, its text form "IOR:...", and its IIOP
// profiles. CORBA 3.3 part 2, 9.7.2; part 1, 8.3. Profiles and components of unknown kinds are kept unchanged.
//
// Threads: none; values. Not for the real-time path (allocates).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orb/base/bytes.h"
#include "orb/base/expected.h"
#include "orb/cdr/reader.h"
#include "orb/cdr/writer.h"
#include "orb/giop/limits.h"
#include "orb/giop/message.h"

namespace corelane::giop {

namespace profile {
inline constexpr std::uint32_t iiop = 0;                 // TAG_INTERNET_IOP
inline constexpr std::uint32_t multiple_components = 1;  // TAG_MULTIPLE_COMPONENTS
inline constexpr std::uint32_t tao_uiop = 0x54414f00;    // of TAO: GIOP over a Unix socket
}  // namespace profile

namespace component {
inline constexpr std::uint32_t orb_type = 0;
inline constexpr std::uint32_t code_sets = 1;
inline constexpr std::uint32_t policies = 2;
inline constexpr std::uint32_t alternate_address = 3;      // TAG_ALTERNATE_IIOP_ADDRESS
inline constexpr std::uint32_t unix_socket = 0x434C4E01;   // ours; see docs/wire.md
inline constexpr std::uint32_t channel = 0x434C4E02;       // ours, too
inline constexpr std::uint32_t omniorb_unix = 0x41545402;  // TAG_OMNIORB_UNIX_TRANS
}  // namespace component

inline constexpr std::uint32_t corelane_orb_type = 0x434C4E00;

// A profile of a reference, or a component of a profile. The tag says how to read the content.
struct Tagged {
  std::uint32_t tag = 0;
  std::vector<std::byte> data;
  friend bool operator==(const Tagged&, const Tagged&) = default;
};
using TaggedProfile = Tagged;
using TaggedComponent = Tagged;

struct Ior {
  std::string type_id;  // repository id; may be empty
  std::vector<TaggedProfile> profiles;

  bool nil() const noexcept { return profiles.empty(); }
  friend bool operator==(const Ior&, const Ior&) = default;
};

struct IiopAddress {
  std::string host;  // name, IPv4 or IPv6 literal without brackets
  std::uint16_t port = 0;
  friend bool operator==(const IiopAddress&, const IiopAddress&) = default;
};

struct IiopProfile {
  IiopProfile() = default;
  // Not an aggregate: g++ 12 warns wrongly of uninitialized members if a member throws inside a braced temporary.
  IiopProfile(Version v, IiopAddress a, std::vector<std::byte> key, std::vector<TaggedComponent> c)
      : version(v), address(std::move(a)), object_key(std::move(key)), components(std::move(c)) {}

  Version version = giop_1_2;
  IiopAddress address;
  std::vector<std::byte> object_key;
  std::vector<TaggedComponent> components;  // none in 1.0
  friend bool operator==(const IiopProfile&, const IiopProfile&) = default;
};

void encode(cdr::Writer& writer, const Ior& ior);
// Decode a reference, with the default limits (found as a codec) or with others.
bool decode(cdr::Reader& reader, Ior& ior);
bool decode(cdr::Reader& reader, Ior& ior, const Limits& limits);

// Refused (INV_OBJREF): a malformed profile, or a major version other than 1. A minor version above 2 is read as 1.2.
Expected<IiopProfile> parse_iiop(const TaggedProfile& profile, const Limits& limits = {});
TaggedProfile make_profile(const IiopProfile& profile);
// Parses TAO's profile of a server at a Unix socket: version, path, key, and components from 1.1 on. Sets `path` to the
// socket's path; host and port stay empty. Refused as above, and if the path is not absolute.
Expected<IiopProfile> parse_uiop(const TaggedProfile& profile, std::string& path, const Limits& limits = {});
// Returns why no call through this reference can succeed: the fault of its first IIOP profile, if each of them has one.
// Returns nothing for a reference that has profiles of other kinds only, or one of TAO's. All are BAD_PARAM:
// - string_has_nul: a NUL character in the type id
// - key_too_long: the object key leaves less than 256 bytes of limits.message_size
// - the code of the reader: a malformed profile, for example bad_string for a NUL character in its host
std::optional<Error> fault_of(const Ior& ior, const Limits& limits);
// Returns the key, in place; empty if the profile is malformed.
Bytes object_key_of(Bytes iiop_profile) noexcept;

// Parses the content of TAG_MULTIPLE_COMPONENTS.
Expected<std::vector<TaggedComponent>> parse_components(Bytes data, const Limits& limits = {});
const TaggedComponent* find_component(const std::vector<TaggedComponent>& components, std::uint32_t tag) noexcept;

// The components that Corelane reads and writes.
TaggedComponent make_orb_type(std::uint32_t type = corelane_orb_type);
std::optional<std::uint32_t> orb_type_of(const IiopProfile& profile) noexcept;
TaggedComponent make_alternate_address(const IiopAddress& address);

// A Unix socket at which the server listens or sets up channels. Processes of the same host that see the same files can
// reach it.
struct UnixAddress {
  std::string boot_id{};              // of the server's kernel; changes with each boot
  std::uint64_t mount_namespace = 0;  // inode number of the mount namespace of the path
  std::string path{};                 // absolute
  friend bool operator==(const UnixAddress&, const UnixAddress&) = default;
};
TaggedComponent make_unix_address(const UnixAddress& address);
TaggedComponent make_channel_address(const UnixAddress& address);
// Return the addresses in order, without malformed ones and those of an unknown version.
std::vector<UnixAddress> unix_addresses_of(const IiopProfile& profile);
std::vector<UnixAddress> channel_addresses_of(const IiopProfile& profile);

// omniORB's form of such an address, with the host's name, which need not be unique. Read only.
struct NamedUnixAddress {
  std::string host{};
  std::string path{};
  friend bool operator==(const NamedUnixAddress&, const NamedUnixAddress&) = default;
};
// Returns the addresses in order, without malformed ones.
std::vector<NamedUnixAddress> omniorb_unix_addresses_of(const IiopProfile& profile);

// Returns the profile's own address, then its alternates in order. Leaves out malformed alternates.
std::vector<IiopAddress> addresses_of(const IiopProfile& profile);

// The text form: "IOR:" and the hexadecimal digits of an encapsulation, in native byte order. Parsing accepts both
// cases and both byte orders.
std::string to_string(const Ior& ior);
Expected<Ior> parse_ior(std::string_view text, const Limits& limits = {});

}  // namespace corelane::giop
