// Finds structs and unions that have no finite value: each value must hold another one of its type.
//
// Only an `@external` member can lead to such a type. An optional member, a sequence, a map or a reference ends the
// circle. So does a union one of whose branches does not lead back.
//
// Threads: none.
#pragma once

#include <vector>

#include "idl/model/model.h"

namespace corelane::idl {

struct Endless {
  const Member* member;  // in the model
  DefId held;            // what the member holds, and what leads back to it
};

// An external member of each circle. All structs and unions that members refer to must be defined.
std::vector<Endless> endless_members(const Model& model);

}  // namespace corelane::idl
