// Tests how intensive tasks slow each other down on cores that share a cache.
#include <catch2/catch.hpp>
#include <string_view>
#include <vector>

#include "orb/sim/simulator.h"

namespace slowdown_test {

using namespace corelane;
using namespace corelane::sim;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t half_slower = 1'500'000;

// Whole cores; the list has the cache of each.
sched::ManagerOptions cores_with(const std::vector<int>& caches, std::string_view allocation) {
  sched::ManagerOptions options;
  for (std::size_t i = 0; i < caches.size(); ++i)
    options.cores.push_back(
        {.id = CoreId{static_cast<std::int16_t>(i)}, .capacity = sched::whole_core, .cache = caches[i]});
  options.allocation = find_named(sched::allocation_strategies(), allocation);
  return options;
}

TaskPlan plan(Duration budget, std::uint16_t intensity = intensive_from) {
  return {.contract = {.period = 20ms, .deadline = 20ms, .budget = budget, .intensity = intensity},
          .first_release = Time{1ms}};
}

// Returns the longest response of each task.
std::vector<Duration> responses(const sched::ManagerOptions& options, const std::vector<TaskPlan>& plans,
                                std::int64_t factor = half_slower) {
  Simulator sim(options);
  sim.use_slowdown([&](std::size_t i, std::size_t j) {
    const bool are_intensive = is_intensive(plans[i].contract) && is_intensive(plans[j].contract);
    return are_intensive ? factor : no_slowdown;
  });
  for (const TaskPlan& each : plans) sim.add(each);
  sim.run(Time{1s});
  std::vector<Duration> worst;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    CHECK(sim.report(i).jobs > 20);
    worst.push_back(sim.report(i).worst);
  }
  return worst;
}

using Responses = std::vector<Duration>;

}  // namespace

TEST_CASE("intensive tasks on two cores of one cache slow each other down while both run") {
  const auto options = cores_with({0, 0}, "worst-fit");
  CHECK(responses(options, {plan(2ms), plan(2ms)}) == Responses{3ms, 3ms});
  // After 3 ms the second task has executed 2 ms of its 4 ms, and continues alone.
  CHECK(responses(options, {plan(2ms), plan(4ms)}) == Responses{3ms, 5ms});
  CHECK(responses(options, {plan(2ms), plan(4ms)}, no_slowdown) == Responses{2ms, 4ms});
}

TEST_CASE("each further intensive task beside a task slows it down by as much") {
  // All three run until 4 ms, when the first has executed its 2 ms. Then two run, at two thirds of the speed.
  CHECK(responses(cores_with({0, 0, 0}, "worst-fit"), {plan(2ms), plan(4ms), plan(6ms)}) == Responses{4ms, 7ms, 9ms});
}

TEST_CASE("tasks with caches of their own and tasks that are not intensive keep their speed") {
  CHECK(responses(cores_with({0, 1}, "worst-fit"), {plan(2ms), plan(4ms)}) == Responses{2ms, 4ms});
  CHECK(responses(cores_with({0, 0}, "worst-fit"), {plan(2ms), plan(4ms, 9)}) == Responses{2ms, 4ms});
}

TEST_CASE("cache-aware allocation lets intensive tasks take turns at full speed") {
  CHECK(responses(cores_with({0, 0}, "cache-aware"), {plan(2ms), plan(4ms)}) == Responses{2ms, 6ms});
}

TEST_CASE("times that the slowdown does not divide are rounded up to the nanosecond once") {
  CHECK(responses(cores_with({0, 0}, "worst-fit"), {plan(1ms), plan(1ms)}, 1'333'333) ==
        Responses{1'333'333ns, 1'333'333ns});
  CHECK(responses(cores_with({0, 0}, "worst-fit"), {plan(1'000'001ns), plan(1'000'001ns)}, 1'333'333) ==
        Responses{1'333'335ns, 1'333'335ns});
}

}  // namespace slowdown_test
