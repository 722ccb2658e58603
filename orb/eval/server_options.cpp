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

}  // namespace corelane::eval
