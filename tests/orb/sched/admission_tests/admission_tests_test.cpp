// Tests what every admission test must do: what it admits, the exact analysis admits, too. And the sets that show where
// each bound lies.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "orb/sched/admission_test.h"
#include "tests/orb/sched/manager_fixture.h"

namespace admission_tests_test {

using namespace corelane;
using namespace corelane::sched;
using namespace corelane::sched::testing;
using namespace std::chrono_literals;

namespace {

ManagerOptions tested_by(const AdmissionTest& test, const ManagerOptions& base = cores_of(1)) {
  ManagerOptions options = base;
  options.test = &test;
  return options;
}

const AdmissionTest& test_named(std::string_view name) {
  const AdmissionTest* const found = find_named(admission_tests(), name);
  REQUIRE(found != nullptr);
  return *found;
}

// Returns the tests that a Manager asks about cores with fixed priorities and that may refuse.
std::vector<const AdmissionTest*> tests_of_one_core() {
  std::vector<const AdmissionTest*> tests;
  for (const AdmissionTest* const test : admission_tests())
    if (test->scheduling == Scheduling::priorities && test->promises) tests.push_back(test);
  return tests;
}

// Returns a contract with an implicit deadline, and sometimes with what the bounds have no place for.
Contract random_contract(std::mt19937_64& random) {
  const Duration period = 1ms * static_cast<int>(5 + random() % 95);
  Contract contract{.period = period, .deadline = period, .budget = period * static_cast<int>(1 + random() % 15) / 100};
  const auto sometimes = [&] { return random() % 6 == 0; };
  if (sometimes()) contract.deadline = std::max(contract.budget, period * 3 / 4);
  if (sometimes()) contract.deadline = 2 * period;
  if (sometimes()) contract.jitter = period / 20;
  if (sometimes()) contract.on_overrun = OverrunPolicy::demote;
  if (sometimes()) {
    contract.uses[0] = use_of("bus", contract.budget / 4);
  } else if (sometimes()) {
    contract.suspension = std::min(period / 20, contract.deadline - contract.budget);
  }
  return contract;
}

bool admits(Bench& bench, const Contract& contract) { return !only<Admit>(bench.propose(contract)).empty(); }

Contract implicit(Duration budget, Duration period) { return {.period = period, .deadline = period, .budget = budget}; }

ManagerOptions whole_core_options() {
  ManagerOptions options = cores_of(1);
  options.cores[0].capacity = whole_core;
  return options;
}

// Returns how many of the tasks a whole core admits, one after the other.
int admitted_of(const AdmissionTest& test, const std::vector<Contract>& contracts) {
  Bench bench(tested_by(test, whole_core_options()));
  int admitted = 0;
  for (const Contract& contract : contracts) admitted += admits(bench, contract) ? 1 : 0;
  return admitted;
}

}  // namespace

TEST_CASE("admission tests have different names that a setting can hold") {
  std::vector<std::string> names{"on", "off"};
  for (const AdmissionTest* const test : admission_tests()) {
    INFO(test->name);
    CHECK(test->name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == test->name.npos);
    CHECK_FALSE(test->name.empty());
    CHECK_FALSE(test->help.empty());
    CHECK_FALSE(test->help.ends_with('.'));
    CHECK(std::count(names.begin(), names.end(), test->name) == 0);
    names.emplace_back(test->name);
  }
  CHECK(default_admission_test() == &admission::response_time);
  CHECK(default_admission_test()->promises);
}

TEST_CASE("a test works in a server if it is for cores with fixed priorities, and else says what to do there") {
  for (const AdmissionTest* const test : admission_tests()) {
    INFO(test->name);
    CHECK(test->usable_in.server == (test->scheduling == Scheduling::priorities));
    CHECK(test->usable_in.analysis);
    CHECK(test->instead.empty() == test->usable_in.server);
    CHECK((test->holds_globally != nullptr) == is_global(test->scheduling));
  }
}

TEST_CASE("what a test of one core admits meets its deadlines by the response-time analysis") {
  ManagerOptions options = cores_of(1);
  options.levels = GENERATE(48, 3);  // with 3, tasks share levels
  options.cores[0].load = GENERATE(PlatformLoad{}, PlatformLoad{.budget = 20us, .period = 1ms, .blocking = 50us});
  for (const AdmissionTest* const test : tests_of_one_core()) {
    int admitted = 0, refused = 0, wrong = 0, low = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      std::mt19937_64 random(seed);
      Bench exact(tested_by(admission::response_time, options)), tested(tested_by(*test, options));
      for (int i = 0; i < 20; ++i) {
        const Contract contract = random_contract(random);
        const auto answers = only<Admit>(tested.propose(contract));
        ++(answers.empty() ? refused : admitted);
        if (answers.empty()) continue;
        const auto checked = only<Admit>(exact.propose(contract));
        wrong += checked.empty() ? 1 : 0;
        low += !checked.empty() && answers[0].response < checked[0].response ? 1 : 0;
      }
    }
    INFO(test->name);
    CHECK(wrong == 0);
    CHECK(low == 0);
    CHECK(admitted > 100);
    CHECK(refused > 100);
  }
}

TEST_CASE("a bound that a test does not compute becomes exact later") {
  for (const AdmissionTest* const test : tests_of_one_core()) {
    INFO(test->name);
    Bench exact(tested_by(admission::response_time)), tested(tested_by(*test));
    std::vector<TaskId> tasks;
    for (const Duration period : {10ms, 25ms, 60ms}) {
      const Contract contract = implicit(period * 3 / 20, period);
      exact.admitted(contract);
      tasks.push_back(tested.admitted(contract));
    }
    for (const TaskId task : tasks) CHECK(tested.manager.find(task)->response >= exact.manager.find(task)->response);
    while (!tested.manager.refresh_bounds(1)) continue;
    for (const TaskId task : tasks) CHECK(tested.manager.find(task)->response == exact.manager.find(task)->response);
  }
}

TEST_CASE("on a core by deadlines the processor demand decides, whatever the test is") {
  ManagerOptions options = cores_of(1);
  options.cores[0].order = CoreOrder::deadline;
  for (const AdmissionTest* const test : tests_of_one_core()) {
    int different = 0, refused = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      std::mt19937_64 random(seed);
      Bench exact(tested_by(admission::processor_demand, options)), tested(tested_by(*test, options));
      for (int i = 0; i < 20; ++i) {
        const Contract contract = random_contract(random);
        const bool fits = admits(exact, contract);
        different += admits(tested, contract) != fits ? 1 : 0;
        refused += fits ? 0 : 1;
      }
    }
    INFO(test->name);
    CHECK(different == 0);
    CHECK(refused > 20);
  }
}

TEST_CASE("the published set has a product of exactly two, which only Liu-Layland and the aperiodic bound refuse") {
  const std::vector<Contract> published{implicit(1ms, 3ms), implicit(1ms, 4ms), implicit(2ms, 10ms)};
  CHECK(admitted_of(test_named("response-time"), published) == 3);
  CHECK(admitted_of(test_named("hyperbolic"), published) == 3);
  CHECK(admitted_of(test_named("liu-layland"), published) == 2);
  CHECK(admitted_of(test_named("aub"), published) == 2);
  CHECK(admitted_of(test_named("hyperbolic"), {implicit(1'000'001ns, 3ms), implicit(1ms, 4ms), implicit(2ms, 10ms)}) ==
        2);
}

TEST_CASE("the aperiodic bound lies at a synthetic utilization of .5858") {
  CHECK(admitted_of(test_named("aub"), {implicit(5857us, 10ms)}) == 1);
  CHECK(admitted_of(test_named("aub"), {implicit(5858us, 10ms)}) == 0);
  CHECK(admitted_of(test_named("aub"), {implicit(29'285us, 100ms), implicit(29'285us, 100ms)}) == 2);
  CHECK(admitted_of(test_named("aub"), {implicit(29'290us, 100ms), implicit(29'290us, 100ms)}) == 1);
}

TEST_CASE("a test refuses a task that the exact analysis would admit, with a contract that it would admit") {
  Bench bench(tested_by(test_named("liu-layland"), whole_core_options()));
  bench.admitted(implicit(5ms, 10ms));
  const Contract harmonic = implicit(10ms, 20ms);
  const Refusal refusal = bench.refused(harmonic);
  CHECK(refusal.code == RefusalCode::not_schedulable);
  CHECK_THAT(text_of(refusal), Catch::StartsWith("the admission test admits it on no core; that test may refuse more"));
  const Nearest nearest = bench.manager.nearest(harmonic);
  REQUIRE(nearest.found());
  bench.admitted({.period = nearest.period, .deadline = nearest.deadline, .budget = nearest.budget});
}

TEST_CASE("a test of all cores admits the published sets and no more") {
  const std::vector<SporadicTask> tasks{{1, 4, 4}, {1, 5, 5}, {3, 9, 9}, {9, 18, 18}};
  std::vector<Ticks> bounds(tasks.size());
  REQUIRE(test_named("global-fp").holds_globally(tasks, 2, bounds));
  CHECK(bounds == std::vector<Ticks>{1, 1, 4, 15});
  CHECK_FALSE(test_named("global-fp").holds_globally(tasks, 1, bounds));
  REQUIRE(test_named("gfb").holds_globally(tasks, 2, bounds));
  CHECK(bounds == std::vector<Ticks>{4, 5, 9, 18});
  CHECK_FALSE(test_named("gfb").holds_globally(tasks, 1, bounds));
  // With shorter deadlines the density counts: 1/2 + 1/2 + 1/2 = 2 - 1/2.
  const std::vector<SporadicTask> dense{{1, 4, 2}, {1, 5, 2}, {3, 9, 6}}, too_dense{{1, 4, 2}, {1, 5, 2}, {4, 9, 6}};
  bounds.resize(3);
  CHECK(test_named("gfb").holds_globally(dense, 2, bounds));
  CHECK_FALSE(test_named("gfb").holds_globally(too_dense, 2, bounds));
}

TEST_CASE("a test that promises nothing admits every task") {
  for (const AdmissionTest* const test : admission_tests()) {
    if (test->promises) continue;
    Bench bench(tested_by(*test));
    for (int i = 0; i < 5; ++i) CHECK(admits(bench, share_of_core(90)));
  }
}

}  // namespace admission_tests_test
