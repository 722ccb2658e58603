// Tests admission with budgets that include slowdowns by tasks on other cores of the same cache.
#include "orb/eval/planning/slowdown_set.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orb/base/registry.h"
#include "orb/core/contracts/slowdowns.h"
#include "orb/dispatch/budget_charge.h"
#include "orb/eval/generate/random_source.h"
#include "orb/eval/plan.h"
#include "orb/eval/planning/idle_server.h"
#include "orb/sched/admission_test.h"
#include "orb/sched/allocation_strategy.h"

namespace slowdown_set_test {

using namespace corelane;
using namespace corelane::eval;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

Task task(const std::string& label, Duration budget, std::uint16_t intensity = 0) {
  return {.label = label, .contract = {.period = 10ms, .deadline = 10ms, .budget = budget, .intensity = intensity}};
}

PairSlowdown pair(const std::string& operation, const std::string& beside, std::int64_t millionths) {
  return {.operation = operation, .beside = beside, .factor = Fraction{millionths}};
}

// A plan on cores of one cache, without any load.
PlanRequest request_of(std::vector<Task> tasks, const std::vector<PairSlowdown>& pairs, int cores = 2,
                       std::string_view allocation = "worst-fit") {
  PlanRequest request;
  request.tasks = std::move(tasks);
  request.cores = numbered_cores(cores);
  request.server.platform = {};
  request.server.capacity = sched::whole_core;
  request.server.allocation = find_named(sched::allocation_strategies(), allocation);
  request.charged_slowdowns = SlowdownTable(pairs, unity);
  return request;
}

// Returns the core, the charged budget and the bound of each task.
struct Row {
  int core = -1;
  Duration charged{}, bound{};

  friend bool operator==(const Row&, const Row&) = default;
};
std::vector<Row> rows_of(const Plan& plan) {
  std::vector<Row> rows;
  for (const TaskVerdict& verdict : plan.tasks)
    rows.push_back({verdict.admitted ? verdict.core.value : -1, verdict.charged_budget.value_or(0ms), verdict.bound});
  return rows;
}

using Rows = std::vector<Row>;

// Adds, in a section for each, what no kind of slowdowns is analyzed with. Returns how a fault names it; nothing in
// other sections.
std::string add_unanalyzed(PlanRequest& request) {
  std::string named;
  SECTION("high criticality") {
    request.tasks[0].is_high = true;
    named = "high criticality, which task a has";
  }
  SECTION("chains") {
    request.chains.push_back({.label = "c", .tasks = {"a", "b"}});
    named = "chains";
  }
  SECTION("spinning") {
    request.spin_locks = true;
    named = "policy.locks = \"msrp\"";
  }
  SECTION("global scheduling") {
    request.server.admission_test = find_named(sched::admission_tests(), "gfb");
    named = "policy.test = \"gfb\"";
  }
  return named;
}

}  // namespace

TEST_CASE("budgets are analyzed with the slowdown by the task on the other core") {
  const std::vector<PairSlowdown> pairs{pair("a", "b", 1'500'000), pair("b", "a", 1'250'000)};
  const Plan both = plan(request_of({task("a", 4ms), task("b", 4ms)}, pairs));
  CHECK(rows_of(both) == Rows{{0, 6ms, 6ms}, {1, 5ms, 5ms}});
  CHECK(both.tasks[0].task.contract.budget == 4ms);
  CHECK(both.cores[0].admitted == 600'000);
  CHECK(both.cores[1].admitted == 500'000);
  // c slows down nobody. It waits for b: 5 + 4 = 9.
  const Plan three = plan(request_of({task("a", 4ms), task("b", 4ms), task("c", 4ms)}, pairs));
  CHECK(rows_of(three) == Rows{{0, 6ms, 6ms}, {1, 5ms, 5ms}, {1, 4ms, 9ms}});
}

TEST_CASE("a core of its own cache slows down nobody") {
  PlanRequest request = request_of({task("a", 4ms), task("b", 4ms)}, {pair("a", "b", 1'500'000)});
  request.server.cache_domains = 2;
  CHECK(rows_of(plan(request)) == Rows{{0, 4ms, 4ms}, {1, 4ms, 4ms}});
}

TEST_CASE("a slowdown lengthens the budget of a task that suspends itself, but not its suspension") {
  std::vector<Task> tasks{task("a", 4ms), task("b", 4ms)};
  tasks[0].contract.suspension = 2ms;
  const Plan slowed = plan(request_of(tasks, {pair("a", "b", 1'500'000)}));
  CHECK(slowed.tasks[0].charged_budget == 6ms);
  CHECK(slowed.tasks[0].slowdown == 1'500'000);
  CHECK(slowed.tasks[1].slowdown == unity.millionths);
  tasks[0].contract.budget = 6ms;
  const Plan longer = plan(request_of(tasks, {}));
  CHECK(longer.tasks[0].bound > Duration::zero());
  CHECK(rows_of(slowed) == rows_of(longer));
}

TEST_CASE("a task shares a core with one that it would make late on another core") {
  // On core 1, b would lengthen a to 10.5 ms.
  const Plan shared = plan(request_of({task("a", 7ms), task("b", 2ms)}, {pair("a", "b", 1'500'000)}));
  CHECK(rows_of(shared) == Rows{{0, 7ms, 7ms}, {0, 2ms, 9ms}});
  const Plan refused = plan(request_of({task("a", 7ms), task("b", 4ms)}, {pair("a", "b", 1'500'000)}));
  CHECK(rows_of(refused) == Rows{{0, 7ms, 7ms}, {-1, 0ms, 0ms}});
  CHECK(refused.refused == 1);
}

TEST_CASE("a refusal says which slowdown has lengthened a budget, and that it is an estimate") {
  const auto reason = [](const PlanRequest& request) {
    const TaskVerdict refused = plan(request).tasks.back();
    CHECK_FALSE(refused.admitted);
    return reason_of(refused.refusal, refused.refusal_note);
  };
  const std::string sentence =
      "the admission test admits it on no core; that test may refuse more tasks than necessary";
  SECTION("that of a task on another core") {
    CHECK(reason(request_of({task("a", 7ms), task("b", 4ms)}, {pair("a", "b", 1'500'000)})) ==
          sentence +
              "; if it ran on core 1, a would be analyzed with a budget of 10500us in place of 7ms: b on "
              "another core of its cache slows it down by a factor of 1.5, which is an estimate");
  }
  SECTION("beside what is charged for overheads") {
    PlanRequest request = request_of({task("a", 7ms), task("b", 4ms)}, {pair("a", "b", 1'500'000)});
    request.overheads.costs = {.hop = 20us};
    CHECK(reason(request) ==
          sentence +
              "; if it ran on core 1, a would be analyzed with a budget of 10530us in place of 7ms plus 20us "
              "of charged overheads: b on another core of its cache slows it down by a factor of 1.5, which is an "
              "estimate");
    request.overheads.charged = false;
    CHECK_THAT(reason(request), Contains("a budget of 10500us in place of 7ms: b on "));
  }
  SECTION("that of the refused task") {
    CHECK_THAT(reason(request_of({task("a", 7ms), task("b", 4ms)}, {pair("b", "a", 3'000'000)})),
               Contains("; if it ran on core 1, b would be analyzed with a budget of 12ms in place of 4ms: a on "));
  }
  SECTION("the largest of several") {
    CHECK_THAT(reason(request_of({task("y", 7ms), task("z", 7ms), task("x", 6ms)},
                                 {pair("x", "y", 1'500'000), pair("x", "z", 1'700'000)}, 3)),
               Contains("; if it ran on core 2, x would be analyzed with a budget of 13200us in place of 6ms: z on "
                        "another core of its cache slows it down by a factor of 1.7, and further tasks do, too; these "
                        "factors are estimates"));
  }
  SECTION("none, if no budget is longer") {
    CHECK(reason(request_of({task("a", 9ms), task("b", 9ms), task("c", 9ms)}, {})) == sentence);
  }
}

TEST_CASE("a plan that charges slowdowns notes that they are estimates") {
  PlanRequest request = request_of({task("a", 4ms)}, {});
  CHECK(plan(request).notes == std::vector<std::string>{std::string(charged_slowdowns_note)});
  request.charged_slowdowns.reset();
  CHECK(plan(request).notes.empty());
}

TEST_CASE("of each other core the worst task counts, and the slowdowns by several cores add up") {
  const std::vector<PairSlowdown> pairs{pair("x", "y", 1'500'000), pair("x", "z", 1'200'000)};
  SECTION("y and z on different cores: 1 + 0.5 + 0.2") {
    const Plan apart = plan(request_of({task("x", 5ms), task("y", 5ms), task("z", 5ms)}, pairs, 3));
    CHECK(rows_of(apart) == Rows{{0, 8500us, 8500us}, {1, 5ms, 5ms}, {2, 5ms, 5ms}});
  }
  SECTION("y and z on one core: 1.5") {
    const Plan together = plan(request_of({task("x", 6ms), task("y", 5ms), task("z", 5ms)}, pairs, 3, "first-fit"));
    CHECK(rows_of(together) == Rows{{0, 9ms, 9ms}, {1, 5ms, 5ms}, {1, 5ms, 10ms}});
  }
}

TEST_CASE("cache-aware allocation tries the cores of other caches first") {
  PlanRequest request = request_of({task("a", 2ms, 40), task("b", 2ms, 40), task("c", 2ms, 40)}, {}, 4, "cache-aware");
  request.server.cache_domains = 2;
  request.charged_slowdowns = SlowdownTable({}, Fraction{2'000'000});
  // The third one takes turns with the first one instead of running beside it.
  CHECK(rows_of(plan(request)) == Rows{{0, 2ms, 2ms}, {2, 2ms, 2ms}, {0, 2ms, 4ms}});
}

TEST_CASE("the fewest cores and the growth of budgets are those with slowdowns") {
  const std::vector<PairSlowdown> pairs{pair("a", "b", 1'500'000), pair("b", "a", 1'250'000)};
  const Plan found = plan(request_of({task("a", 6ms), task("b", 6ms)}, pairs));
  CHECK(found.refused == 0);
  CHECK(found.fewest_cores == 2);
  // a: 6 ms x 1.5 = 9 ms of 10 ms, and 9 ms x 1.111 = 9.999 ms.
  CHECK(found.growth == 1111);
}

TEST_CASE("a task that the table of tasks has no room for gets that as the reason") {
  PlanRequest request = request_of({task("a", 1ms), task("b", 1ms)}, {});
  request.server.max_tasks = 1;
  const Plan full = plan(request);
  CHECK(full.tasks[0].admitted);
  CHECK(full.tasks[1].refusal.code == sched::RefusalCode::too_many_tasks);
  CHECK_FALSE(full.tasks[1].refusal.takes_none);
  request = request_of({task("a", 9ms), task("b", 9ms), task("c", 9ms)}, {});
  const Plan late = plan(request);
  CHECK(late.tasks[2].refusal.code == sched::RefusalCode::not_schedulable);
  CHECK(late.tasks[2].refusal.by_bound);
}

// Each later task lengthens budgets on other cores, or is refused.
TEST_CASE("at the end each core has what a new server admits with the charged budgets") {
  const SlowdownTable table({}, Fraction{1'300'000});
  std::vector<Task> tasks;
  for (int i = 0; i < 24; ++i) {
    tasks.push_back(task(std::to_string(i), 600us * (1 + i % 7), i % 3 == 0 ? 40 : 0));
    tasks.back().contract.period = tasks.back().contract.deadline = 1ms * (9 + i * 5 % 11);
  }
  PlanRequest request = request_of({}, {}, 3);
  SlowdownSet set(table, request.server, request.cores);
  std::vector<TaskVerdict> verdicts;
  for (const Task& one : tasks)
    if (set.admits(one)) verdicts.emplace_back(TaskVerdict{.task = one});
  REQUIRE(verdicts.size() > 6);
  REQUIRE(verdicts.size() < tasks.size());
  for (std::size_t i = 0; i < verdicts.size(); ++i) set.describe(i, verdicts[i]);
  for (const CoreId core : request.cores) {
    IdleServer fresh(request.server, std::span(&core, 1));
    std::vector<std::pair<TaskId, Duration>> bounds;
    for (const TaskVerdict& verdict : verdicts) {
      if (verdict.core != core) continue;
      Contract charged = verdict.task.contract;
      charged.budget = slowed(charged.budget, verdict.slowdown);
      CAPTURE(core.value, verdict.task.label);
      CHECK(verdict.charged_budget == charged.budget);
      bounds.emplace_back(fresh.try_admit(verdict.task.label, charged), verdict.bound);
      REQUIRE(bounds.back().first != no_task);
    }
    for (const auto& [id, bound] : bounds) CHECK(fresh.bound_of(id) == bound);
  }
}

TEST_CASE("the worst slowdowns charge each task at least as much as any placement") {
  const std::vector<std::string> names{"a", "b", "c", "a-1", "b-2"};
  int admitted = 0;
  for (std::uint64_t set = 0; set < 100; ++set) {
    Random random = random_of(8, set);
    std::vector<PairSlowdown> pairs;
    for (int count = 0; count < 6; ++count)
      pairs.push_back(pair(names[below(random, names.size())], names[below(random, names.size())],
                           1'000'000 + static_cast<std::int64_t>(below(random, 8)) * 100'000));
    std::vector<Task> tasks;
    for (int number = 0; number < 10; ++number) {
      const std::string& name = names[below(random, names.size())];
      tasks.push_back(task(name + "-" + std::to_string(number), 100us * (1 + static_cast<int>(below(random, 25)))));
    }
    PlanRequest request = request_of(tasks, pairs, 4);
    request.server.cache_domains = 1 + below(random, 2);
    request.sensitivity = request.fewest = false;
    const Plan placed = plan(request);
    request.charged_slowdowns.reset();
    request.server.slowdowns = core::worst_of(pairs);
    std::vector<dispatch::CoreLease> leases;
    for (const CoreId core : request.cores) leases.push_back({.core = core, .physical_core = core.value});
    const dispatch::BudgetCharge by_server(request.server, leases);
    for (const TaskVerdict& verdict : placed.tasks) {
      if (!verdict.admitted) continue;
      CAPTURE(set, verdict.task.label);
      CHECK(by_server.factor_of(verdict.task.label) >= verdict.slowdown);
      ++admitted;
    }
  }
  CHECK(admitted > 500);
}

TEST_CASE("a plan by the worst slowdowns has the budgets and the refusals of a server") {
  const std::vector<PairSlowdown> pairs{pair("a", "b", 1'500'000), pair("b", "a", 1'250'000)};
  PlanRequest request = request_of({task("a", 4ms), task("b", 4ms), task("c", 4ms)}, {});
  request.charged_slowdowns.reset();
  request.server.slowdowns = core::worst_of(pairs);
  const Plan three = plan(request);
  CHECK(rows_of(three) == Rows{{0, 6ms, 6ms}, {1, 5ms, 5ms}, {1, 4ms, 9ms}});
  CHECK(three.tasks[0].task.contract.budget == 4ms);
  CHECK(three.tasks[0].slowdown == 1'500'000);
  CHECK(three.tasks[2].slowdown == unity.millionths);
  CHECK(three.notes == std::vector<std::string>{std::string(charged_slowdowns_note)});
  // Tasks that share a core do not slow each other down, but they are charged all the same.
  request.tasks = {task("a", 7ms), task("b", 2ms)};
  const Plan refused = plan(request);
  CHECK(rows_of(refused) == Rows{{-1, 0ms, 0ms}, {0, 2500us, 2500us}});
  CHECK_THAT(reason_of(refused.tasks[0].refusal, refused.tasks[0].refusal_note),
             Contains("; it is analyzed with a budget of 10500us in place of 7ms: b on each other core of its cache "
                      "slows it down by a factor of 1.5, which is an estimate (dispatch.slowdowns)"));
  // With two caches, no other core counts.
  request.server.cache_domains = 2;
  CHECK(rows_of(plan(request)) == Rows{{0, 7ms, 7ms}, {1, 2ms, 2ms}});
}

TEST_CASE("a refusal by the worst slowdowns has the budget of the task, and says that overheads are charged, too") {
  PlanRequest request = request_of({task("a", 7ms), task("b", 2ms)}, {});
  request.charged_slowdowns.reset();
  request.server.slowdowns = core::worst_of(std::vector{pair("a", "b", 1'500'000)});
  request.overheads.costs = {.hop = 20us};
  const Plan planned = plan(request);
  REQUIRE_FALSE(planned.tasks[0].admitted);
  CHECK_THAT(reason_of(planned.tasks[0].refusal, planned.tasks[0].refusal_note),
             Contains("; it is analyzed with a budget of 10530us in place of 7ms: b on each other core of its cache") &&
                 Catch::EndsWith("; the analyzed budget also includes 20us of charged overheads"));
  CHECK(planned.tasks[1].charged_budget == 2020us);
}

TEST_CASE("a refusal says which slowdown has lengthened the budget of the task that would be late") {
  PlanRequest request = request_of({task("a", 8ms), task("b", 9ms), task("c", 4500us)}, {});
  request.tasks[0].contract.period = request.tasks[0].contract.deadline = 20ms;
  request.tasks[2].contract.period = request.tasks[2].contract.deadline = 12ms;
  request.charged_slowdowns.reset();
  CHECK(plan(request).refused == 0);
  request.server.slowdowns = core::worst_of(std::vector{pair("a", "b", 1'500'000)});
  const TaskVerdict refused = plan(request).tasks[2];
  REQUIRE_FALSE(refused.admitted);
  CHECK_THAT(reason_of(refused.refusal, refused.refusal_note),
             Contains(", where a responds in 22ms against deadline 20ms") &&
                 Contains("; a is analyzed with a budget of 12ms in place of 8ms: b on each other core of its cache "
                          "slows it down by a factor of 1.5, which is an estimate (dispatch.slowdowns)"));
  request.overheads.costs = {.hop = 20us};
  const TaskVerdict charged = plan(request).tasks[2];
  CHECK_THAT(reason_of(charged.refusal, charged.refusal_note),
             Contains("; a is analyzed with a budget of 12030us in place of 8ms: b on ") &&
                 Catch::EndsWith("; the analyzed budget also includes 20us of charged overheads"));
}

TEST_CASE("a plan of a server that promises nothing charges no slowdowns and does not mention them") {
  PlanRequest request = request_of({task("a", 7ms), task("b", 2ms)}, {});
  request.charged_slowdowns.reset();
  request.server.slowdowns = core::worst_of(std::vector{pair("a", "b", 1'500'000)});
  request.server.admission_test = &sched::admission::none;
  request.chains.push_back({.label = "c", .tasks = {"a", "b"}});
  CHECK_FALSE(fault_of(request));
  request.chains.clear();
  const Plan planned = plan(request);
  CHECK(planned.notes.empty());
  for (const TaskVerdict& verdict : planned.tasks) {
    CHECK(verdict.admitted);
    CHECK_FALSE(verdict.charged_budget);
  }
}

TEST_CASE("what the worst slowdowns are not analyzed with is a fault that names it") {
  PlanRequest request = request_of({task("a", 4ms)}, {});
  request.charged_slowdowns.reset();
  request.server.slowdowns = core::worst_of({});
  request.tasks[0].contract.uses[0] = use_of("bus", 1us);
  CHECK_FALSE(fault_of(request));  // a server analyzes sections
  const std::string named = add_unanalyzed(request);
  const auto fault = fault_of(request);
  REQUIRE(fault);
  CHECK(*fault == "policy.charge_slowdowns = \"worst\", or the setting dispatch.slowdowns, has no analysis of " +
                      named + "; leave one of them out, or write policy.charge_slowdowns = false");
}

TEST_CASE("what slowdowns are not analyzed with is a fault that names it") {
  PlanRequest request = request_of({task("a", 4ms)}, {});
  std::string named = add_unanalyzed(request);
  SECTION("resources") {
    request.tasks[0].contract.uses[0] = use_of("bus", 1us);
    named = "resources, which task a uses";
  }
  SECTION("nothing") {
    CHECK_FALSE(fault_of(request));
    return;
  }
  const auto fault = fault_of(request);
  REQUIRE(fault);
  CHECK(*fault == "policy.charge_slowdowns has no analysis of " + named + "; leave one of them out");
}

}  // namespace slowdown_set_test
