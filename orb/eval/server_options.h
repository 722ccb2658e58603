// The options of a server that a scenario describes. What the scenario leaves out stays as it is in the given options.
// Threads: pure functions.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "orb/dispatch/executive.h"
#include "orb/eval/scenario.h"
#include "orb/sched/analysis/synthetic_utilization.h"

namespace corelane::eval {

// The names of dispatchers that a scenario may give. The first is a server's default.
std::span<const std::string_view> dispatcher_names() noexcept;

// The names in `policy` are empty, or those of a dispatcher, an allocation strategy and an admission test.
void apply(const Platform& platform, dispatch::ExecutiveOptions& options) noexcept;
void apply(const Policy& policy, dispatch::ExecutiveOptions& options) noexcept;

// The names of policies of the aperiodic utilization bound: one letter each for admission, idle resetting and load
// balancing, as in Zhang, Gill & Lu 2008. N: never, T: per task, J: per job. Three of the 18 contradict themselves.
std::span<const std::string_view> aperiodic_policy_names() noexcept;

// Returns how the test `aub` decides about jobs; nothing if the policy does not say so.
std::optional<sched::AperiodicPolicy> aperiodic_policy_of(const Policy& policy) noexcept;

}  // namespace corelane::eval
