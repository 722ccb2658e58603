// Parses and builds corbaname references: a corbaloc for a naming context, and a name in it. CosNaming 1.3, 2.5.3.
//
//   corbaname::host:2809#plant/controller      corbaname:rir:#plant/controller      corbaname::#plant/controller
//
// Threads: none; values. Not for the real-time path (allocates).
#pragma once

#include <string>
#include <string_view>

#include "orb/base/expected.h"
#include "orb/giop/corbaloc.h"
#include "orb/giop/limits.h"
#include "orb/giop/name_text.h"

namespace corelane::giop {

struct Corbaname {
  Corbaloc context;  // its key is NameService if the text has none
  Name name;         // empty: the context itself
  friend bool operator==(const Corbaname&, const Corbaname&) = default;
};

struct UriFault {
  Error error;       // BAD_PARAM bad_uri; bad_address for a host or port
  std::string text;  // what is wrong with the name; empty if `error` says it
};
Expected<Corbaname, UriFault> parse_corbaname(std::string_view text, const Limits& limits = {});

// Implements NamingContextExt::to_url(): returns "corbaname:" + address + "#" + name, escaped. With an empty name it is
// the context's URL. Refused: an invalid address or one with a #, and an invalid name.
Expected<std::string, UriFault> corbaname_of(std::string_view address, std::string_view name);

}  // namespace corelane::giop
