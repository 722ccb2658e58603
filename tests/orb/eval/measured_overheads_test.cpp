#include "orb/eval/measured_overheads.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <string>

#include "orb/eval/host_card/host_card.h"
#include "tests/support/system/temp_directory.h"

namespace measured_overheads_test {

using namespace corelane;
using namespace corelane::eval;
using namespace std::chrono_literals;
using corelane::testing::TempDirectory;

namespace {

CostSummary cost_of(Duration p99) { return {.min = p99, .median = p99, .p99 = p99, .max = 2 * p99, .count = 100}; }

HostCard card_of_this_machine() {
  HostCard card;
  card.key = key_of_this_host();
  card.costs = {{HostCost::hop_other_core, cost_of(20us)},
                {HostCost::context_switch, cost_of(700ns)},
                {HostCost::migrate_sleeping, cost_of(2us)}};
  card.wake_ups = {{.load = WakeLoad::cpu, .real_time = true, .late = cost_of(69'100ns)}};
  return card;
}

std::string fault_of_file(const std::string& text) {
  const TempDirectory place;
  std::ofstream(place / "costs.csv") << text;
  const auto measured = read_overheads(place / "costs.csv");
  return measured ? "" : measured.error().text;
}

}  // namespace

TEST_CASE("a host card gives the costs of a hop, a dispatch and a migration, for any number of tasks") {
  const TempDirectory place;
  REQUIRE(write_host_card(card_of_this_machine(), place / "card.json"));
  const auto measured = read_overheads(place / "card.json");
  REQUIRE(measured);
  CHECK(measured->note.empty());
  CHECK(overheads_of(*measured, 5).blocking == 70us);
  const sim::Overheads costs = overheads_of(*measured, 5).costs;
  CHECK(costs.hop.most() == 20us);
  CHECK(costs.dispatch.most() == 700ns);
  CHECK(costs.migration.most() == 2us);
  CHECK(costs.release.most() == 0us);
  CHECK(costs.preemption.most() == 0us);
  CHECK(overheads_of(*read_overheads(place / "card.json", CostCharge::max), 5).costs.hop.most() == 40us);
}

TEST_CASE("the card of another host has a note") {
  const TempDirectory place;
  HostCard card = card_of_this_machine();
  card.key.host = "another-host";
  REQUIRE(write_host_card(card, place / "card.json"));
  const auto measured = read_overheads(place / "card.json");
  REQUIRE(measured);
  CHECK_THAT(measured->note, Catch::Contains("was measured on the host 'another-host'"));
}

TEST_CASE("a table of SchedCAT gives the costs for the number of tasks") {
  const TempDirectory place;
  std::ofstream(place / "costs.csv") << "TASK-COUNT,RELEASE,SCHEDULE,CXS\n1,2,3,4\n11,12,3,4\n";
  const auto measured = read_overheads(place / "costs.csv");
  REQUIRE(measured);
  CHECK(overheads_of(*measured, 1).costs.release.most() == 2us);
  CHECK(overheads_of(*measured, 6).costs.release.most() == 7us);
  CHECK(overheads_of(*measured, 6).costs.dispatch.most() == 7us);
}

// Error paths.

TEST_CASE("a file that is no source of overheads is refused with what to do") {
  CHECK_THAT(fault_of_file("WSS,L1\n4,5\n"),
             Catch::Contains("depends on WSS; take a table with a column TASK-COUNT, and write cache delays"));
  CHECK_THAT(fault_of_file("TASK-COUNT,CXS\n1,x\n"),
             Catch::Contains("is neither a host card nor a table of SchedCAT: line 2 of the overheads has \"x\""));
  CHECK_THAT(fault_of_file("{"), Catch::Contains("costs.csv"));
}

}  // namespace measured_overheads_test
