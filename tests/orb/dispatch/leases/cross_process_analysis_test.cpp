// Tests the analysis over the promises of two processes.
#include "orb/dispatch/leases/cross_process_analysis.h"

#include <catch2/catch.hpp>
#include <vector>

namespace cross_process_analysis_test {

using namespace corelane;
using namespace corelane::dispatch;
using namespace std::chrono_literals;

namespace {

Promise promise(int core, Duration budget, Duration period = 10ms) {
  return {.core = CoreId{static_cast<std::int16_t>(core)},
          .physical_core = core,
          .contract = make_contract(period, budget)};
}

}  // namespace

TEST_CASE("promises on a sibling count for the whole physical core") {
  const CoreLease lease{.core = CoreId{1}, .physical_core = 0};
  std::vector<Promise> others{promise(0, 3ms)};
  CHECK(promised_on(lease, others) == 300'000);
  CHECK(interference_on(lease, others).size() == 1);
  others.front().physical_core = 2;
  CHECK(promised_on(lease, others) == 0);
  CHECK(interference_on(lease, others).empty());
}

namespace {

Promise task_of(std::uint32_t owner, Contract contract) {
  return {.core = CoreId{0}, .physical_core = 0, .contract = contract, .owner = owner};
}
Promise load_of(std::uint32_t owner, Duration budget, Duration period, Duration blocking = {}) {
  return {.core = CoreId{0},
          .physical_core = 0,
          .contract = {.period = period, .deadline = period, .budget = budget},
          .owner = owner,
          .kind = PromiseKind::platform,
          .blocking = blocking};
}
constexpr CoreLease core_0{.core = CoreId{0}, .physical_core = 0};

bool hold(const std::vector<Promise>& others, const std::vector<Promise>& ours) {
  return others_hold(core_0, others, ours);
}

}  // namespace

TEST_CASE("a new task that would make another process's task late does not fit beside it") {
  const Promise tight = task_of(1, make_contract(10ms, 4ms, 5ms, 0ms));
  CHECK(hold({tight}, {task_of(0, make_contract(10ms, 1ms, {}, 0ms))}));
  CHECK_FALSE(hold({tight}, {task_of(0, make_contract(10ms, 1001us, {}, 0ms))}));
  CHECK_FALSE(hold({tight}, {promise(0, 1us), task_of(0, make_contract(10ms, 1ms, {}, 0ms))}));
  CHECK(hold({tight}, {promise(1, 5ms)}));
}

TEST_CASE("another process's own order of priorities counts in the analysis of its tasks") {
  const Contract fast = make_contract(4ms, 2ms, {}, 0ms);
  const Contract slow = make_contract(12ms, 3ms, {}, 0ms);
  const std::vector<Promise> ours{task_of(0, make_contract(100ms, 1ms, {}, 0ms))};
  // (2,4) above (3,12) hold in one process. In two processes, each counts the other as having the higher priority.
  CHECK(hold({task_of(1, fast), task_of(1, slow)}, ours));
  CHECK_FALSE(hold({task_of(1, fast), task_of(2, slow)}, ours));
}

TEST_CASE("tasks of a process with more tasks than levels delay each other both ways") {
  std::vector<Promise> theirs{task_of(1, make_contract(4ms, 2ms, {}, 0ms)),
                              task_of(1, make_contract(12ms, 3ms, {}, 0ms))};
  const std::vector<Promise> ours{task_of(0, make_contract(100ms, 1ms, {}, 0ms))};
  for (Promise& task : theirs) task.levels = 2;
  CHECK(hold(theirs, ours));
  for (Promise& task : theirs) task.levels = 1;
  CHECK_FALSE(hold(theirs, ours));
}

TEST_CASE("platform loads of both processes and their blocking count for the other process's tasks") {
  const Promise tight = task_of(1, make_contract(10ms, 4ms, 5ms, 0ms));
  const Promise candidate = task_of(0, make_contract(10ms, 500us, {}, 0ms));
  CHECK(hold({tight, load_of(1, 100us, 10ms)}, {candidate, load_of(0, 400us, 10ms)}));
  CHECK_FALSE(hold({tight, load_of(1, 101us, 10ms)}, {candidate, load_of(0, 400us, 10ms)}));
  CHECK_FALSE(hold({tight, load_of(1, 100us, 10ms)}, {candidate, load_of(0, 401us, 10ms)}));
  CHECK(hold({tight, load_of(1, 100us, 10ms, 200us)}, {candidate, load_of(0, 200us, 10ms, 100us)}));
  CHECK_FALSE(hold({tight, load_of(1, 100us, 10ms, 201us)}, {candidate, load_of(0, 200us, 10ms)}));
}

TEST_CASE("the longest deadline on a core is that of its tasks") {
  const std::vector<Promise> others{task_of(1, make_contract(10ms, 1ms)), load_of(1, 1us, 1s), promise(1, 1ms, 1min)};
  CHECK(longest_deadline_on(core_0, others) == 10ms);
  CHECK(longest_deadline_on(core_0, {}) == 0ms);
}

}  // namespace cross_process_analysis_test
