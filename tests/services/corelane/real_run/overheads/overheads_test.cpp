#include "services/corelane/real_run/overheads/overheads.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <string>
#include <vector>

#include "orb/os/machine/topology.h"
#include "services/corelane/real_run/overheads/decision_costs.h"
#include "tests/support/quiet.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::tool;
using namespace std::chrono_literals;

namespace overheads_test {

const DecisionScenario& first_scenario() { return decision_scenarios().front(); }

// Returns two cores; says why the test is skipped if there are not so many.
std::vector<CoreId> two_usable_cores() {
  std::vector<CoreId> cores;
  const auto topology = os::Topology::detect();
  for (const os::CoreInfo& core : topology->cores()) cores.push_back(core.core);
  if (cores.size() < 2) std::cout << "SKIPPED: the scenarios need two cores\n";
  cores.resize(cores.size() < 2 ? 0 : 2);
  return cores;
}

TEST_CASE("the table has the stages, the total, and the published figures") {
  const OverheadsFile file{.name = "Costs",
                           .samples = 1,
                           .source = "somewhere",
                           .rows = {{.scenario = &first_scenario(), .published = PublishedCost{43, 55, 109}}}};
  DecisionStages stages;
  stages.add({.ran = false, .submitted = Time{1us}, .begun = Time{2us}, .decided = Time{4500ns}, .ended = Time{9us}});
  const eval::Table table = overheads_table(file, {{.row = file.rows.front(), .stages = stages}});
  CHECK(table.title == "Costs");
  REQUIRE(table.rows.size() == 1);
  CHECK(table.rows[0] == std::vector<std::string>{std::string(first_scenario().title), "1.00", "2.50", "-", "-", "4.50",
                                                  "7.00", "7.00", "7.00", "7.00", "43", "55", "109"});
  CHECK(table.rows[0].size() == table.columns.size());
  CHECK(table.notes.back() == "Published: somewhere.");
}

TEST_CASE("a scenario without published figures has none in the table") {
  const OverheadsFile file{.rows = {{.scenario = &first_scenario()}}};
  DecisionStages stages;
  stages.add({.submitted = Time{1us}, .begun = never, .ended = Time{2us}});
  const eval::Table table = overheads_table(file, {{.row = file.rows.front(), .stages = stages}});
  CHECK(table.rows[0].size() == table.columns.size());
  CHECK(table.rows[0].back() == "-");
}

TEST_CASE("each published scenario brings the manager to the decision that it is about") {
  const std::vector<CoreId> cores = two_usable_cores();
  if (cores.empty()) return;
  const testing::Quiet quiet;
  const testing::TempDirectory directory;
  std::vector<const DecisionScenario*> scenarios;
  for (const DecisionScenario& scenario : decision_scenarios().first(6)) scenarios.push_back(&scenario);
  std::vector<std::size_t> counts;
  const std::string fault = measure_decisions(
      scenarios, {.samples = 2, .cores = cores, .ledger = directory.path()},
      [&](const DecisionScenario&, const DecisionStages& stages) { counts.push_back(stages.total.count()); });
  CHECK(fault == "");
  CHECK(counts == std::vector<std::size_t>(6, 2));
}

TEST_CASE("a job on the other core is timed with a hand-off and with a migration") {
  const std::vector<CoreId> cores = two_usable_cores();
  if (cores.empty()) return;
  const testing::Quiet quiet;
  std::vector<const DecisionScenario*> scenarios;
  for (const DecisionScenario& scenario : decision_scenarios())
    if (scenario.name == "job-on-other-core" || scenario.name == "job-migrates") scenarios.push_back(&scenario);
  std::vector<std::size_t> counts;
  const std::string fault = measure_decisions(
      scenarios, {.samples = 3, .cores = cores},
      [&](const DecisionScenario&, const DecisionStages& stages) { counts.push_back(stages.total.count()); });
  CHECK(fault == "");
  CHECK(counts == std::vector<std::size_t>{3, 3});
}

TEST_CASE("a measurement that is stopped reports no scenario that is not complete") {
  const std::vector<CoreId> cores = two_usable_cores();
  if (cores.empty()) return;
  const testing::Quiet quiet;
  const std::vector<const DecisionScenario*> scenarios{&first_scenario()};
  bool was_reported = false;
  const std::string fault =
      measure_decisions(scenarios, {.samples = 1000, .cores = cores, .is_to_stop = [] { return true; }},
                        [&](const DecisionScenario&, const DecisionStages&) { was_reported = true; });
  CHECK(fault == "");
  CHECK(!was_reported);
}

// Error paths.

TEST_CASE("a ledger that cannot be made is a fault that names its directory") {
  const std::vector<CoreId> cores = two_usable_cores();
  if (cores.empty()) return;
  const testing::Quiet quiet;
  const testing::TempDirectory directory;
  const std::vector<const DecisionScenario*> scenarios{&first_scenario()};
  const std::string fault =
      measure_decisions(scenarios, {.samples = 1, .cores = cores, .ledger = directory / "missing/folder"},
                        [](const DecisionScenario&, const DecisionStages&) {});
  CHECK_THAT(fault, Catch::Contains("missing/folder"));
}

}  // namespace overheads_test
