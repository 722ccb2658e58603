#include "orb/eval/server_options.h"

#include <cstddef>
#include <iterator>

namespace corelane::eval {
namespace {

using dispatch::DispatchMode;

constexpr std::string_view dispatchers[] = {"manager", "direct", "leader-followers"};
constexpr DispatchMode modes[] = {DispatchMode::manager, DispatchMode::direct, DispatchMode::leader_followers};
constexpr std::string_view allocations[] = {"worst-fit"};
constexpr std::string_view no_test = "none";
constexpr std::string_view tests[] = {"response-time", no_test};

}  // namespace

std::span<const std::string_view> dispatcher_names() noexcept { return dispatchers; }
std::span<const std::string_view> allocation_names() noexcept { return allocations; }
std::span<const std::string_view> test_names() noexcept { return tests; }

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
  if (!policy.test.empty()) options.admission = policy.test != no_test;
}

}  // namespace corelane::eval
