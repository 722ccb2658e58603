// Tests what every admission test must do: a test that promises deadlines decides as the response-time analysis does.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "orb/sched/admission_test.h"
#include "tests/orb/sched/manager_fixture.h"

namespace admission_tests_test {

using namespace corelane;
using namespace corelane::sched;
using namespace corelane::sched::testing;
using namespace std::chrono_literals;

namespace {

ManagerOptions tested_by(const AdmissionTest& test, CoreOrder order = CoreOrder::priority) {
  ManagerOptions options = cores_of(1);
  options.cores[0].order = order;
  options.test = &test;
  return options;
}

// Returns a contract with an implicit deadline, and sometimes with another deadline, jitter or a suspension.
Contract random_contract(std::mt19937_64& random) {
  const Duration period = 1ms * static_cast<int>(5 + random() % 95);
  Contract contract{.period = period, .deadline = period, .budget = period * static_cast<int>(1 + random() % 30) / 100};
  if (random() % 8 == 0) contract.deadline = std::max(contract.budget, period * 3 / 4);
  if (random() % 8 == 0) contract.jitter = period / 20;
  if (random() % 8 == 0) contract.suspension = period / 20;
  return contract;
}

bool admits(Bench& bench, const Contract& contract) { return !only<Admit>(bench.propose(contract)).empty(); }

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

TEST_CASE("every admission test that promises deadlines decides as the response-time analysis") {
  const auto order = GENERATE(CoreOrder::priority, CoreOrder::deadline);
  for (const AdmissionTest* const test : admission_tests()) {
    if (!test->promises) continue;
    std::size_t different = 0, admitted = 0, refused = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      std::mt19937_64 random(seed);
      Bench exact(tested_by(admission::response_time, order)), tested(tested_by(*test, order));
      for (int i = 0; i < 15; ++i) {
        const Contract contract = random_contract(random);
        const bool fits = admits(exact, contract);
        different += admits(tested, contract) != fits ? 1 : 0;
        (fits ? admitted : refused) += 1;
      }
    }
    INFO(test->name);
    CHECK(different == 0);
    CHECK(admitted > 200);
    CHECK(refused > 200);
  }
}

TEST_CASE("a bound of a quick test is never below the exact one and becomes exact") {
  for (const AdmissionTest* const test : admission_tests()) {
    if (!test->promises) continue;
    INFO(test->name);
    Bench exact(tested_by(admission::response_time)), tested(tested_by(*test));
    std::vector<TaskId> tasks;
    for (const Duration period : {10ms, 25ms, 60ms}) {
      const Contract contract{.period = period, .deadline = period, .budget = period / 5};
      exact.admitted(contract);
      tasks.push_back(tested.admitted(contract));
    }
    for (const TaskId task : tasks) CHECK(tested.manager.find(task)->response >= exact.manager.find(task)->response);
    while (!tested.manager.refresh_bounds(1)) continue;
    for (const TaskId task : tasks) CHECK(tested.manager.find(task)->response == exact.manager.find(task)->response);
  }
}

TEST_CASE("the hyperbolic test looks only at classical sets") {
  const AdmissionTest* const test = find_named(admission_tests(), "hyperbolic");
  REQUIRE(test != nullptr);
  const std::vector<Usage> tasks{{1, 3}, {1, 4}, {1, 5}};
  CHECK(test->holds({.tasks = tasks, .is_classical = true}));
  CHECK_FALSE(test->holds({.tasks = tasks, .is_classical = false}));
  CHECK_FALSE(test->holds({.tasks = std::vector<Usage>{{1, 2}, {1, 2}}, .is_classical = true}));
}

TEST_CASE("a test that promises nothing admits every task") {
  for (const AdmissionTest* const test : admission_tests()) {
    if (test->promises) continue;
    Bench bench(tested_by(*test));
    for (int i = 0; i < 5; ++i) CHECK(admits(bench, share_of_core(90)));
  }
}

}  // namespace admission_tests_test
