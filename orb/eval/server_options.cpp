#include "orb/eval/server_options.h"

#include <cstddef>
#include <iterator>

#include "orb/base/registry.h"
#include "orb/sched/admission_test.h"
#include "orb/sched/allocation_strategy.h"

namespace corelane::eval {
namespace {

using dispatch::DispatchMode;

constexpr std::string_view dispatchers[] = {"manager", "direct", "leader-followers"};
constexpr DispatchMode modes[] = {DispatchMode::manager, DispatchMode::direct, DispatchMode::leader_followers};

// Returns the value of an axis; `fallback` for "".
sched::When when_of(std::string_view name, sched::When fallback) noexcept {
  if (name == "never") return sched::When::never;
  if (name == "per-task") return sched::When::per_task;
  return name == "per-job" ? sched::When::per_job : fallback;
}

}  // namespace

std::span<const std::string_view> dispatcher_names() noexcept { return dispatchers; }

void apply(const Platform& platform, dispatch::ExecutiveOptions& options) noexcept {
  sched::PlatformLoad& load = options.platform;
  load.budget = platform.budget.value_or(load.budget);
  load.period = platform.period.value_or(load.period);
  load.jitter = platform.jitter.value_or(load.jitter);
  load.blocking = platform.blocking.value_or(load.blocking);
  if (platform.capacity) options.capacity = platform.capacity->millionths;
}

void apply(const Policy& policy, dispatch::ExecutiveOptions& options) noexcept {
  for (std::size_t i = 0; i < std::size(dispatchers); ++i)
    if (dispatchers[i] == policy.dispatcher) options.mode = modes[i];
  if (const auto* strategy = find_named(sched::allocation_strategies(), policy.allocation))
    options.allocation = strategy;
  if (const auto* test = find_named(sched::admission_tests(), policy.test)) options.admission_test = test;
}

std::optional<sched::AperiodicPolicy> aperiodic_policy_of(const Policy& policy) noexcept {
  if (policy.aub_admission.empty() && policy.aub_resetting.empty() && policy.aub_balancing.empty()) return std::nullopt;
  return sched::AperiodicPolicy{.admission = when_of(policy.aub_admission, sched::When::per_task),
                                .idle_resetting = when_of(policy.aub_resetting, sched::When::never),
                                .load_balancing = when_of(policy.aub_balancing, sched::When::never)};
}

}  // namespace corelane::eval
