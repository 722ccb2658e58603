#include "services/corelane/top.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "orb/os/host.h"
#include "tests/support/temp_directory.h"

using namespace corelane;
using namespace corelane::tool;
using namespace std::chrono_literals;
using corelane::testing::TempDirectory;

namespace {

dispatch::ProcessCounters sample() {
  const os::ProcessIdentity self = os::this_process();
  dispatch::ProcessCounters counters;
  counters.pid = self.pid;
  counters.start_ticks = self.start_ticks;
  counters.pid_namespace = os::this_host().pid_namespace;
  counters.program = "plant";
  counters.admitted = 3;
  counters.cores = {{.core = CoreId{2}, .capacity = 950'000, .admitted = 123'400, .tasks = 1}};
  dispatch::TaskCounters task;
  task.task = TaskId{9};
  task.core = CoreId{2};
  task.contract = make_contract(10ms, 1500us);
  task.misses = 4;
  task.max = 2500us;
  task.label = "Plant/st\x1b\xff";
  counters.tasks = {task};
  return counters;
}

std::string shown(const std::string& directory, Format format) {
  std::ostringstream out, err;
  CHECK(top_once(directory, format, out, err) == 0);
  CHECK(err.str().empty());
  return out.str();
}

}  // namespace

TEST_CASE("a live server is shown with its cores and tasks") {
  TempDirectory directory;
  auto page = dispatch::CounterPage::make(directory.path(), 1, 1);
  REQUIRE(page);
  (*page)->write(sample());
  const std::string text = shown(directory.path(), Format::table);
  CHECK_THAT(text, Catch::Contains("plant " + std::to_string(::getpid()) + ": admitted 3"));
  CHECK_THAT(text, Catch::Contains("core 2    12.3 % of 95.0 % admitted, other servers 0.0 %, 1 tasks"));
  CHECK_THAT(text, Catch::Contains("1.50ms"));
  CHECK_THAT(text, Catch::Contains("Plant/st?"));  // no control characters
}

TEST_CASE("each server's cores show what the others hold of them") {
  dispatch::ProcessCounters other = sample(), third = sample();
  other.cores = {{.core = CoreId{1}, .capacity = 950'000, .admitted = 100'000, .tasks = 1},
                 {.core = CoreId{2}, .capacity = 950'000, .admitted = 600'000, .tasks = 2}};
  third.cores[0].core = CoreId{3};
  const std::vector all{sample(), other, third};
  const std::string text = text_of(all, Format::table, Time{});
  CHECK_THAT(text, Catch::Contains("core 2    12.3 % of 95.0 % admitted, other servers 60.0 %, 1 tasks"));
  CHECK_THAT(text, Catch::Contains("core 2    60.0 % of 95.0 % admitted, other servers 12.3 %, 2 tasks"));
  CHECK_THAT(text, Catch::Contains("core 1    10.0 % of 95.0 % admitted, other servers 0.0 %, 1 tasks"));
  CHECK(nlohmann::json::parse(text_of(all, Format::json, Time{}))[0]["cores"][0]["others_ppm"] == 600'000);
}

TEST_CASE("a server that promises nothing is shown as one") {
  TempDirectory directory;
  auto page = dispatch::CounterPage::make(directory.path(), 0, 1);
  REQUIRE(page);
  dispatch::ProcessCounters counters = sample();
  counters.promises = false;
  counters.cores.clear();
  counters.tasks[0].core = no_core;
  counters.tasks[0].bound = Duration::zero();
  (*page)->write(counters);
  const std::string text = shown(directory.path(), Format::table);
  CHECK_THAT(text, Catch::Contains("leader-followers: everybody is admitted, nothing is promised"));
  CHECK_THAT(text, Catch::Contains("  9        -    -"));
  CHECK_THAT(text, Catch::Contains("        -  Plant/st"));  // the bound
  CHECK(nlohmann::json::parse(shown(directory.path(), Format::json))[0]["promises"] == false);
}

TEST_CASE("programs get JSON with units in its names") {
  TempDirectory directory;
  auto page = dispatch::CounterPage::make(directory.path(), 1, 1);
  REQUIRE(page);
  (*page)->write(sample());
  const auto json = nlohmann::json::parse(shown(directory.path(), Format::json));
  REQUIRE(json.size() == 1);
  CHECK(json[0]["cores"][0]["admitted_ppm"] == 123'400);
  CHECK(json[0]["tasks"][0]["budget_ns"] == 1'500'000);
  CHECK(json[0]["tasks"][0]["misses"] == 4);
}

TEST_CASE("where no server runs this is said") {
  TempDirectory directory;
  CHECK(shown(directory.path(), Format::table) == "no Corelane server runs here\n");
  CHECK(shown(directory / "none", Format::json) == "[]\n");
}

TEST_CASE("numbers that nobody writes any more have their age beside them") {
  dispatch::ProcessCounters counters = sample();
  counters.written = Time{100s};
  CHECK_THAT(text_of({counters}, Format::table, Time{101s}), !Catch::Contains("old"));
  CHECK_THAT(text_of({counters}, Format::table, Time{145s}), Catch::Contains("\n  these numbers are 45.00s old: "));
}
