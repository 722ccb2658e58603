// ReferenceParts is a decoded reference for people: profiles, endpoints, components, object key. A damaged reference is
// shown as far as it can be read, with the byte from which it cannot.
// Threads: pure. Allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/bytes.h"
#include "orb/base/expected.h"
#include "orb/giop/ior.h"

namespace corelane::tool {

struct ComponentPart {
  std::uint32_t tag = 0;
  std::string name{};     // what the tag means; "" if it is not known
  std::string content{};  // for people
};

struct ProfilePart {
  std::uint32_t tag = 0;
  std::string name{};
  std::string version{};                 // "1.2"; for IIOP
  std::vector<std::string> endpoints{};  // the profile's own, then its alternates, Unix sockets and channels
  std::vector<std::byte> object_key{};
  std::string corbaloc{};  // the same object as corbaloc:; for IIOP
  std::vector<ComponentPart> components{};
  std::string fault{};  // what is wrong with it, and at which byte
};

struct ReferenceParts {
  std::string form{};     // "IOR", "corbaloc", "corbaname"
  std::string type_id{};  // may be empty
  bool nil = false;
  std::string initial{};  // for rir: the initial reference to start at
  std::string name{};     // for corbaname: the name to look up there
  std::vector<ProfilePart> profiles{};

  bool is_sound() const;  // no profile has a fault
};

// Why the text is not a reference: a sentence that says at which character, and what was expected there.
struct ReferenceFault {
  std::string text;
};
Expected<ReferenceParts, ReferenceFault> take_apart(std::string_view text);

// Returns bytes as one line: printable ones as they are, the others as \xx.
std::string printable(Bytes bytes);
std::string hexadecimal(Bytes bytes);

ProfilePart part_of(const giop::TaggedProfile& profile);
ComponentPart part_of_component(const giop::TaggedComponent& component);

}  // namespace corelane::tool
