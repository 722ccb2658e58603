#include "orb/eval/server_options.h"

#include <cstddef>
#include <iterator>

#include "orb/base/registry.h"
#include "orb/sched/admission_test.h"
#include "orb/sched/allocation_strategy.h"

namespace corelane::eval {
namespace {

using dispatch::DispatchMode;

constexpr std::string_view mode_names[] = {"manager", "direct", "leader-followers"};
constexpr DispatchMode modes[] = {DispatchMode::manager, DispatchMode::direct, DispatchMode::leader_followers};

constexpr std::string_view aperiodic_names[] = {"T_N_N", "T_N_T", "T_N_J", "T_T_N", "T_T_T", "T_T_J",
                                                "T_J_N", "T_J_T", "T_J_J", "J_N_N", "J_N_T", "J_N_J",
                                                "J_T_N", "J_T_T", "J_T_J", "J_J_N", "J_J_T", "J_J_J"};

sched::When when_of(char letter) noexcept {
  if (letter == 'N') return sched::When::never;
  return letter == 'T' ? sched::When::per_task : sched::When::per_job;
}

}  // namespace

std::span<const std::string_view> dispatcher_names() noexcept { return mode_names; }

void apply(const Platform& platform, dispatch::ExecutiveOptions& options) noexcept {
  sched::PlatformLoad& load = options.platform;
  load.budget = platform.budget.value_or(load.budget);
  load.period = platform.period.value_or(load.period);
  load.jitter = platform.jitter.value_or(load.jitter);
  load.blocking = platform.blocking.value_or(load.blocking);
  if (platform.cache_domains > 0) options.cache_domains = static_cast<std::size_t>(platform.cache_domains);
  if (platform.capacity) options.capacity = platform.capacity->millionths;
}

void apply(const Policy& policy, dispatch::ExecutiveOptions& options) noexcept {
  for (std::size_t i = 0; i < std::size(mode_names); ++i)
    if (mode_names[i] == policy.dispatcher) options.mode = modes[i];
  if (const auto* strategy = find_named(sched::allocation_strategies(), policy.allocation))
    options.allocation = strategy;
  options.repack = policy.repack;
  if (const auto* test = find_named(sched::admission_tests(), policy.test)) options.admission_test = test;
}

std::span<const std::string_view> aperiodic_policy_names() noexcept { return aperiodic_names; }

std::optional<sched::AperiodicPolicy> aperiodic_policy_of(const Policy& policy) noexcept {
  if (policy.aub.size() != aperiodic_names[0].size()) return std::nullopt;
  return sched::AperiodicPolicy{.admission = when_of(policy.aub[0]),
                                .idle_resetting = when_of(policy.aub[2]),
                                .load_balancing = when_of(policy.aub[4])};
}

}  // namespace corelane::eval
