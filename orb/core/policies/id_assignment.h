// The policy that says who chooses object ids: the program or the adapter.
//
// Threads: constants.
#pragma once

#include "orb/core/policies/policy_kind.h"

namespace corelane::core::policies {

extern const PolicyKind id_assignment;
inline constexpr PolicyValue user_id = 0, system_id = 1;  // its values

}  // namespace corelane::core::policies
