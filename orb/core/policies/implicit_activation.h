// The policy that says whether asking for the id or the reference of a servant activates it.
//
// Threads: constants.
#pragma once

#include "orb/core/policies/policy_kind.h"

namespace corelane::core::policies {

extern const PolicyKind implicit_activation;
inline constexpr PolicyValue implicitly = 0, not_implicitly = 1;  // its values

}  // namespace corelane::core::policies
