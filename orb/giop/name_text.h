// Parses and prints names of the Naming Service: plant.line1/controller. CosNaming 1.3, 2.4.
//
//   id          kind ""                     a/b      two components
//   id.kind                                 .        id and kind ""
//   .kind       id ""                       a\/b\.c  the escapes \/ \. and \\ stand for the character
//
// Invalid: an empty text or component, a dot at a component's end, a second dot in a component, and any other escape.
//
// Threads: none; values. Not for the real-time path (allocates).
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/expected.h"

namespace corelane::giop {

struct NameComponent {
  std::string id, kind;
  auto operator<=>(const NameComponent&) const = default;
};
using Name = std::vector<NameComponent>;

// What is wrong with a text, as a sentence that quotes it.
struct NameFault {
  std::string text;
};
Expected<Name, NameFault> parse_name(std::string_view text);

// Return text that parse_name() reads back.
std::string to_string(const NameComponent& component);
std::string to_string(const Name& name);

}  // namespace corelane::giop
