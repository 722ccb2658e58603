// Parses and prints corbaloc references, which people can write. CORBA 3.3 part 2, 7.6.10.
//
//   corbaloc:iiop:1.2@host:2809,:otherhost,iiop:[::1]:2810/key%20with%2fescapes        corbaloc:rir:/NameService
//
// Threads: none; values. Not for the real-time path (allocates).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/expected.h"
#include "orb/giop/ior.h"

namespace corelane::giop {

inline constexpr std::uint16_t default_corbaloc_port = 2809;

struct CorbalocAddress {
  Version version = giop_1_0;  // the standard's default
  IiopAddress address;         // host "": this host
  friend bool operator==(const CorbalocAddress&, const CorbalocAddress&) = default;
};

struct Corbaloc {
  bool initial_reference = false;  // rir: the key names an initial reference, NameService by default
  std::vector<CorbalocAddress> addresses;
  std::string object_key;  // any bytes
  friend bool operator==(const Corbaloc&, const Corbaloc&) = default;
};

// Refused (BAD_PARAM, bad_uri; bad_address for a host or port): any text outside this grammar, and more than
// limits.profiles addresses.
Expected<Corbaloc> parse_corbaloc(std::string_view text, const Limits& limits = {});
std::string to_string(const Corbaloc& corbaloc);

// Returns a reference without type id, with one IIOP profile for each address. Not for rir.
Ior to_ior(const Corbaloc& corbaloc);

}  // namespace corelane::giop
