// Finds structs and unions that have no finite value, because each value must contain another one of its type.
//
// Only an `@external` member can lead to such a type. An optional member, a sequence, a map or a reference breaks the
// cycle. So does a union if one of its branches does not lead back.
//
// Threads: none.
#pragma once

#include <vector>

#include "idl/model/model.h"

namespace corelane::idl {

struct Endless {
  const Member* member;  // in the model
  DefId held;            // what the member contains, and what leads back to the member
};

// Returns one external member of each cycle. All structs and unions that members refer to must be defined.
std::vector<Endless> endless_members(const Model& model);

}  // namespace corelane::idl
