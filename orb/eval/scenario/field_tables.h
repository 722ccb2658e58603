// The tables of a scenario file, with all their fields.
// Threads: constants.
#pragma once

#include <span>

#include "orb/eval/scenario.h"
#include "orb/eval/scenario/field.h"
#include "orb/eval/scenario/sweep.h"

namespace corelane::eval {

std::span<const Field<Scenario>> top_fields() noexcept;
std::span<const Field<Platform>> platform_fields() noexcept;
std::span<const Field<Policy>> policy_fields() noexcept;
std::span<const Field<ListedTask>> task_fields() noexcept;
std::span<const Field<Chain>> chain_fields() noexcept;
std::span<const Field<PairSlowdown>> slowdown_fields() noexcept;
std::span<const Field<Generator>> generator_fields() noexcept;
std::span<const Field<Sweep>> sweep_fields() noexcept;

}  // namespace corelane::eval
