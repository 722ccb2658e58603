// The policy that says how long calls through a reference wait for their replies, instead of timeout.request.
//
// Threads: constants and pure functions.
#pragma once

#include "orb/base/time.h"
#include "orb/core/policies/policy_kind.h"

namespace corelane::core::policies {

// Its value counts 100 ns (TimeBase::TimeT).
extern const PolicyKind relative_roundtrip_timeout;

// Returns the time that a value stands for. A time that a Duration cannot hold becomes the longest one.
Duration roundtrip_time_of(PolicyValue value) noexcept;

}  // namespace corelane::core::policies
