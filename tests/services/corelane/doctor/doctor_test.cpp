#include "services/corelane/doctor/doctor.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "services/corelane/doctor/probe.h"
#include "tests/services/corelane/doctor/fake_host.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::tool;
using namespace corelane::testing;
using namespace std::chrono_literals;
using Catch::Contains;

TEST_CASE("a host that lacks nothing is told so") {
  const FakeHost host;
  for (const Finding& finding : host.all()) {
    CAPTURE(finding.name, finding.found);
    if (finding.name == "reservation daemon") continue;  // no file shows that it runs
    CHECK(finding.state == FindingState::present);
    CHECK(finding.commands.empty());
  }
}

TEST_CASE("a purpose asks for what matters to it alone") {
  const FakeHost host;
  const auto has = [&](Purpose purpose, const std::string& name) {
    const auto findings = host.all(unsigned(purpose));
    return std::ranges::count(findings, name, &Finding::name) == 1;
  };
  CHECK(has(Purpose::tasks, "SCHED_FIFO"));
  CHECK_FALSE(has(Purpose::tasks, "sibling threads"));
  CHECK(has(Purpose::latency, "sibling threads"));
  CHECK(has(Purpose::reserve, "control groups"));
  CHECK_FALSE(has(Purpose::reserve, "swap"));
}

TEST_CASE("missing properties come first and are counted") {
  const Finding there{.name = "a", .found = "x"};
  const Finding lacks{.name = "b",
                      .state = FindingState::missing,
                      .found = "y\x1b",
                      .cost = "slow",
                      .commands = {"mend it"},
                      .note = "or not"};
  const Diagnosis diagnosis{.findings = {there, lacks}, .loads = {}};
  const std::string text = text_of(diagnosis, Format::table);
  CHECK_THAT(text, Catch::StartsWith("missing    b                       y?\n           slow\n           $ mend it\n"));
  CHECK_THAT(text, Catch::EndsWith("\n1 missing, 0 unknown, of 2\n"));
  const auto json = nlohmann::json::parse(text_of(diagnosis, Format::json));
  CHECK(json["missing"] == 1);
  CHECK(json["findings"][1]["commands"][0] == "mend it");
  CHECK_FALSE(json.contains("cores"));
}

TEST_CASE("a measured platform suggests its settings") {
  const std::vector<CoreLoad> loads = {
      {.core = CoreId{0}, .real_time = true, .wake_p50 = 5us, .wake_p99 = 20'001ns, .wake_max = 1ms, .taken = 0.01},
      {.core = CoreId{1}, .real_time = false, .wake_p50 = 5us, .wake_p99 = 9us, .wake_max = 10us, .taken = 0}};
  const PlatformSettings settings = suggest(loads);
  CHECK(settings.blocking == 21us);
  CHECK(settings.budget == 30us);
  const std::string text = text_of({.findings = {}, .loads = loads}, Format::table);
  CHECK_THAT(text, Contains("blocking = \"21us\"") && Contains("core 1") && Contains("without SCHED_FIFO"));
  CHECK(nlohmann::json::parse(text_of({.findings = {}, .loads = loads}, Format::json))["cores"][0]["wake_p99_ns"] ==
        20'001);
}

TEST_CASE("a busy host is told by its load average and its gaps") {
  const std::vector<CoreLoad> quiet = {{.core = CoreId{0}, .taken = 0.002, .longest_taken = 80us}, {.core = CoreId{1}}};
  CHECK(signs_of_busy_host(quiet, 0.2).empty());
  CHECK(signs_of_busy_host(quiet, std::nullopt).empty());
  CHECK(signs_of_busy_host(quiet, 7.0) == std::vector<std::string>{"the load average before was 7.00 on 2 cores"});
  const std::vector<CoreLoad> gaps = {{.core = CoreId{0}}, {.core = CoreId{1}, .taken = 0.03, .longest_taken = 2ms}};
  CHECK(signs_of_busy_host(gaps, 0.2) == std::vector<std::string>{"gaps took 3.00 % of core 1, 2.00ms at once"});
  const Diagnosis diagnosis{.loads = gaps, .busy = signs_of_busy_host(gaps, 0.2)};
  CHECK_THAT(text_of(diagnosis, Format::table), Contains("warning: the host was busy") && Contains("  gaps took 3.00"));
  CHECK(nlohmann::json::parse(text_of(diagnosis, Format::json))["busy"].size() == 1);
  CHECK_THAT(text_of({.loads = quiet}, Format::table), !Contains("warning"));
}

TEST_CASE("a diagnosis says which of two measured blockings to use") {
  Diagnosis diagnosis{.loads = {{.core = CoreId{0}, .wake_p99 = 9713us}}};
  CHECK_THAT(text_of(diagnosis, Format::table), !Contains("two p99"));
  diagnosis.card = eval::HostCard{.wake_ups = {{.real_time = true, .late = {.p99 = 643us, .count = 250}}}};
  CHECK_THAT(text_of(diagnosis, Format::table), Contains("two p99 of wake-ups: 9713us above") &&
                                                    Contains("643.0us in the card") &&
                                                    Contains("platform.blocking: write the longer one"));
}

TEST_CASE("a measurement that was asked for alone decides about the exit status") {
  const Finding lacks{.name = "b", .state = FindingState::missing};
  Diagnosis diagnosis{.findings = {lacks}};
  CHECK(status_of({}, diagnosis) == 1);
  CHECK(status_of({}, Diagnosis{}) == 0);
  const DoctorOptions measures{.measure = true};
  diagnosis.card = eval::HostCard{.costs = {{eval::HostCost::context_switch, {.count = 1}}}};
  CHECK(status_of(measures, diagnosis) == 0);
  CHECK(status_of({.names_purpose = true, .measure = true}, diagnosis) == 1);
  diagnosis.card_fault = "/state cannot be made";
  CHECK(status_of(measures, diagnosis) == 1);
  CHECK(status_of(measures, {.card = eval::HostCard{}}) == 1);  // nothing could be measured
}

TEST_CASE("a diagnosis shows the host card, and where it was written") {
  Diagnosis diagnosis;
  diagnosis.card = eval::HostCard{.key = {.host = "plant", .kernel = "6.12", .processor = ""}, .thorough = true};
  diagnosis.card_file = "/state/card.json";
  CHECK_THAT(text_of(diagnosis, Format::table),
             Contains("host card of plant, Linux 6.12\n") && Contains("written to /state/card.json\n"));
  const auto json = nlohmann::json::parse(text_of(diagnosis, Format::json));
  CHECK(json["host_card"]["host"] == "plant");
  CHECK(json["host_card_file"] == "/state/card.json");
  CHECK_FALSE(json.contains("host_card_fault"));
}

TEST_CASE("a host card that was not written is shown with the reason") {
  Diagnosis diagnosis;
  diagnosis.card = eval::HostCard{};
  diagnosis.card_fault = "/state cannot be made";
  CHECK_THAT(text_of(diagnosis, Format::table), Contains("the host card was not written: /state cannot be made\n"));
  CHECK(nlohmann::json::parse(text_of(diagnosis, Format::json))["host_card_fault"] == "/state cannot be made");
}

TEST_CASE("a runtime directory that is not there yet is told to be none") {
  const TempDirectory place;
  const FakeHost host;
  const auto said = [&](const std::string& directory) {
    const Finding finding = host.look("runtime directory", probe({.runtime_directory = directory}));
    CHECK(finding.state == FindingState::present);
    return finding.found;
  };
  CHECK(said(place.path()) == place.path());
  CHECK(said(place / "new") == (place / "new") + " does not exist yet; the first server makes it");
}

TEST_CASE("a runtime directory is judged before a server needs it") {
  const TempDirectory place;
  CHECK(fault_of_runtime_directory(place.path()).empty());
  CHECK(fault_of_runtime_directory(place / "new").empty());
  CHECK(std::filesystem::exists(place / "new") == false);
  CHECK_THAT(fault_of_runtime_directory(place / "none/new"), Contains("cannot be made"));
  std::ofstream(place / "file").flush();
  CHECK_THAT(fault_of_runtime_directory(place / "file"), Catch::EndsWith("is a plain file, no directory"));
}
