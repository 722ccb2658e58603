#include "services/corelane/servers/top.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <thread>

#include "orb/dispatch/leases/host_ledger.h"
#include "orb/os/machine/host.h"
#include "orb/os/process/child_process.h"
#include "services/corelane/host/elsewhere.h"
#include "tests/support/system/other_users_socket.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::tool;
using namespace std::chrono_literals;
using corelane::testing::another_user;
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
  counters.jobs_refused = 812;
  counters.queue_full = 5;
  counters.cores = {{.core = CoreId{2}, .capacity = 950'000, .admitted = 123'400, .tasks = 1}};
  dispatch::TaskCounters task;
  task.task = TaskId{9};
  task.core = CoreId{2};
  task.contract = make_contract(10ms, 1500us);
  task.misses = 4;
  task.oversleeps = 6;
  task.refused = 811;
  task.max = 2500us;
  task.label = "Plant/st\x1b\xff";
  counters.tasks = {task};
  return counters;
}

std::string shown(const std::string& directory, Format format) {
  std::ostringstream out, err;
  KnownDirectories known;
  CHECK(top_once(directory, format, known, out, err) == 0);
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
  CHECK_THAT(text, Catch::Contains(", jobs refused 812, queue full 5, best effort 0\n"));
  CHECK_THAT(text, Catch::Contains("core 2    12.3 % of 95.0 % admitted, 1 task\n"));
  CHECK_THAT(text, Catch::Contains("1.50ms"));
  CHECK_THAT(text, Catch::Contains("Plant/st?"));  // control characters are replaced
}

TEST_CASE("one picture waits for pages that are written after it was asked for") {
  TempDirectory directory;
  CHECK(await_pages(directory.path(), os::now(), 0s));  // there is no page to wait for
  auto page = dispatch::CounterPage::make(directory.path(), 1, 1);
  REQUIRE(page);
  dispatch::ProcessCounters counters = sample();
  const Time begin = os::now();
  counters.written = begin - 1ns;
  (*page)->write(counters);
  CHECK_FALSE(await_pages(directory.path(), begin, 0s));
  std::jthread server([&] {
    counters.written = begin;
    (*page)->write(counters);
  });
  CHECK(await_pages(directory.path(), begin, 1h));
}

TEST_CASE("each server's cores show what the ledger says that others hold of them") {
  const auto holds = [](int core, Duration budget, dispatch::PromiseKind kind) {
    return dispatch::Promise{.core = CoreId{static_cast<std::int16_t>(core)},
                             .physical_core = core,
                             .contract = make_contract(10ms, budget),
                             .kind = kind};
  };
  using enum dispatch::PromiseKind;
  const std::int32_t self = sample().pid;
  const Picture picture{.directory = {},
                        .processes = {sample()},
                        .holders = {{self, {holds(2, 1234us, task), holds(2, 150us, platform)}},
                                    {self + 1, {holds(2, 6ms, task), holds(2, 200us, platform), holds(1, 1ms, task)}}},
                        .fault = {}};
  const std::string text = text_of(picture, Format::table, Time{});
  CHECK_THAT(text, Catch::Contains("core 2    12.3 % of 95.0 % admitted, platform load 1.5 %, 1 task; other servers "
                                   "hold 62.0 %: tasks 60.0 %, platform load 2.0 %\n"));
  CHECK_THAT(
      text,
      Catch::Contains("\nprocess " + std::to_string(self + 1) +
                      ": shows nothing that this user and this version may read, but holds 10.0 % of core 1, 62.0 % of "
                      "core 2\n"));
  const auto json = nlohmann::json::parse(text_of(picture, Format::json, Time{}));
  CHECK(json[0]["cores"][0]["others_ppm"] == 620'000);
  CHECK(json[0]["cores"][0]["others_platform_ppm"] == 20'000);
  CHECK(json[0]["cores"][0]["platform_ppm"] == 15'000);
  CHECK(json[1]["cores"][1]["promised_ppm"] == 620'000);
}

TEST_CASE("a server without a page is shown as the ledger knows it") {
  TempDirectory directory;
  const auto ledger = dispatch::HostLedger::open(*os::Topology::synthetic("core:4 pu:1"), directory.path());
  REQUIRE(ledger);
  REQUIRE((*ledger)->begin());
  const dispatch::Promise promise{.core = CoreId{3}, .physical_core = 3, .contract = make_contract(10ms, 1500us)};
  REQUIRE((*ledger)->end(std::span(&promise, 1)));
  CHECK_THAT(shown(directory.path(), Format::table),
             Catch::StartsWith("process " + std::to_string(::getpid()) + ": shows nothing ") &&
                 Catch::Contains("but holds 15.0 % of core 3\n"));
}

TEST_CASE("servers in other directories are told with the way to look at them") {
  TempDirectory here, there, empty;
  auto page = dispatch::CounterPage::make(there.path(), 1, 1);
  REQUIRE(page);
  CHECK(elsewhere_text(here.path(), {empty.path(), here / "none", there.path()}) ==
        "elsewhere: " + there.path() + " has server " + std::to_string(::getpid()) +
            "; corelane top --runtime-directory " + there.path() + " shows it\n");
  CHECK(elsewhere_text(there.path(), {there.path()}).empty());
  CHECK(directory_of_server(::getpid()) == there.path());
  const auto known = known_directories();
  CHECK(std::ranges::count(known, there.path()) == 1);
}

TEST_CASE("servers elsewhere are looked for every ten seconds, however often they are asked for") {
  TempDirectory there;
  KnownDirectories known;
  const auto knows_at = [&](Time now) { return std::ranges::count(known.at(now), there.path()) == 1; };
  CHECK_FALSE(knows_at(Time{1s}));
  auto page = dispatch::CounterPage::make(there.path(), 1, 1);
  REQUIRE(page);
  CHECK_FALSE(knows_at(Time{10s}));
  CHECK(knows_at(Time{11s}));
}

TEST_CASE("a server that takes no tasks is shown with no part of a core") {
  dispatch::ProcessCounters counters = sample();
  counters.cores.clear(), counters.tasks.clear();
  const Picture picture{.processes = {counters}};
  const std::string text = text_of(picture, Format::table, Time{});
  CHECK_THAT(text, Catch::Contains("\n  limits.tasks 0: it takes no tasks, and so no part of a core\n") &&
                       !Catch::Contains("%"));
  CHECK(nlohmann::json::parse(text_of(picture, Format::json, Time{}))[0]["promises"] == false);
}

TEST_CASE("the nameserver shows no core, since it takes no tasks") {
  TempDirectory place;
  os::ChildProcess nameserver({os::program_beside("corelane-nameserver"), "-ORBRuntimeDirectory", place.path(),
                               "-ORBNamingStore", "memory", "-ORBEndpointListen", "127.0.0.1:0", "-ORBLogLevel",
                               "off"});
  REQUIRE(nameserver.read_line());
  std::string text;
  while ((text = shown(place.path(), Format::json)) == "[]\n")
    std::this_thread::sleep_for(10ms);  // sleep: the page appears in a while; bound: the timeout of CTest
  const auto json = nlohmann::json::parse(text);
  CHECK(json[0]["program"] == "corelane-nameserver");
  CHECK(json[0]["cores"].empty());
}

TEST_CASE("the columns of tasks stand below their names") {
  dispatch::ProcessCounters counters = sample();
  counters.tasks[0].task = TaskId{1'048'576};
  const std::string text = text_of({.processes = {counters}}, Format::table, Time{});
  const std::size_t head = text.find("\n  task") + 1, row = text.find('\n', head) + 1;
  const auto end_of = [&](std::size_t line, const char* word) {
    return text.find(word, line) + std::strlen(word) - line;
  };
  CHECK(end_of(head, "core") == end_of(row, " 2"));
  CHECK(end_of(head, " T") == end_of(row, "10.00ms"));
  CHECK(end_of(head, "max") == end_of(row, "2.50ms"));
}

TEST_CASE("a server that promises nothing is shown as one") {
  TempDirectory directory;
  auto page = dispatch::CounterPage::make(directory.path(), 0, 1);
  REQUIRE(page);
  dispatch::ProcessCounters counters = sample();
  counters.conditions.guarantee = dispatch::Guarantee::priorities;
  counters.cores.clear();
  counters.tasks[0].core = no_core;
  counters.tasks[0].bound = Duration::zero();
  (*page)->write(counters);
  const std::string text = shown(directory.path(), Format::table);
  CHECK_THAT(text, Catch::Contains("leader-followers: contracts are not analyzed, and no deadline is promised;"));
  CHECK_THAT(text,
             Catch::Contains("       4        0          -       -        -  "));  // sleeps and blocks are not counted
  CHECK_THAT(text, Catch::Contains("  9           -    -"));
  CHECK_THAT(text, Catch::Contains("        -  Plant/st"));  // the column of bounds
  const auto json = nlohmann::json::parse(shown(directory.path(), Format::json));
  CHECK(json[0]["promises"] == false);
  CHECK(json[0]["tasks"][0].at("oversleeps").is_null());
  CHECK(json[0]["tasks"][0].at("jobs_refused").is_null());
}

TEST_CASE("a server whose tasks run at priorities without cores shows those") {
  dispatch::ProcessCounters counters = sample();
  counters.conditions.guarantee = dispatch::Guarantee::priorities;
  counters.tasks[0].core = no_core;
  counters.tasks[0].native = 47;
  CHECK_THAT(text_of({.processes = {counters}}, Format::table, Time{}), Catch::Contains("  9           -   47 "));
}

TEST_CASE("a server without admission is shown as one") {
  dispatch::ProcessCounters counters = sample();
  counters.conditions.guarantee = dispatch::Guarantee::placement;
  const Picture picture{.processes = {counters}};
  CHECK_THAT(text_of(picture, Format::table, Time{}),
             Catch::Contains("\n  dispatch.admission off: contracts are not analysed;") &&
                 Catch::Contains("         6       0      811  "));  // sleeps and blocks are counted
  CHECK(nlohmann::json::parse(text_of(picture, Format::json, Time{}))[0]["promises"] == false);
}

TEST_CASE("settings that weaken a server's promises are shown, and so is mode direct") {
  dispatch::ProcessCounters counters = sample();
  const auto lines = [&] { return text_of({.processes = {counters}}, Format::table, Time{}); };
  const auto json = [&] { return nlohmann::json::parse(text_of({.processes = {counters}}, Format::json, Time{}))[0]; };
  CHECK_THAT(lines(), !Catch::Contains("without SCHED_FIFO") && !Catch::Contains("dispatch.mode") &&
                          !Catch::Contains("runtime.ledger"));
  CHECK(json()["mode"] == "manager");
  counters.conditions = {.direct = true, .real_time = false, .guarded = false};
  CHECK_THAT(lines(), Catch::Contains("\n  dispatch.mode direct: ") && Catch::Contains("\n  without SCHED_FIFO: ") &&
                          Catch::Contains("\n  runtime.ledger off: "));
  CHECK(json()["mode"] == "direct");
  CHECK(json()["real_time"] == false);
  CHECK(json()["guarded"] == false);
}

TEST_CASE("a client's own task names its holder") {
  dispatch::ProcessCounters counters = sample();
  counters.tasks[0].owner = PeerId{7};
  CHECK_THAT(text_of({.processes = {counters}}, Format::table, Time{}), Catch::Contains(" of peer 7\n"));
}

TEST_CASE("refused tasks are listed beside the admitted ones, with how often and why they were refused") {
  dispatch::ProcessCounters counters = sample();
  counters.refusals = {{.label = "Plant/watch\x1b",
                        .owner = PeerId{7},
                        .contract = make_contract(10ms, 9ms),
                        .why = {.closest = CoreId{2}, .response = 11ms, .deadline = 10ms},
                        .asked = Time{98s},
                        .times = 12}};
  const Picture picture{.processes = {counters}};
  const std::string text = text_of(picture, Format::table, Time{100s});
  CHECK_THAT(text,
             Catch::Contains("\n  refused  last ago         T         D         C\n"
                             "       12     2.00s   10.00ms   10.00ms    9.00ms  Plant/watch? of peer 7: a deadline "
                             "would be missed on every core; closest is core 2, response 11ms against deadline "
                             "10ms\n"));
  const auto json = nlohmann::json::parse(text_of(picture, Format::json, Time{}));
  const auto& refused = json[0]["refusals"].at(0);
  CHECK(refused["times"] == 12);
  CHECK(refused["code"] == "not_schedulable");
  CHECK(refused["budget_ns"] == 9'000'000);
  SECTION("also where there are no tasks") {
    counters.tasks.clear();
    CHECK_THAT(text_of({.processes = {counters}}, Format::table, Time{}), Catch::Contains("Plant/watch? of peer 7: "));
  }
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
  CHECK(json[0]["tasks"][0]["oversleeps"] == 6);
  CHECK(json[0]["tasks"][0]["jobs_refused"] == 811);
  CHECK(json[0]["queue_full"] == 5);
}

TEST_CASE("where no server runs this is said") {
  TempDirectory directory;
  CHECK_THAT(shown(directory.path(), Format::table),
             Catch::StartsWith("no Corelane server runs with runtime.directory " + directory.path() + "\n"));
  CHECK(shown(directory / "none", Format::json) == "[]\n");
}

TEST_CASE("numbers that are no longer written are shown with their age") {
  dispatch::ProcessCounters counters = sample();
  counters.written = Time{100s};
  const Picture picture{.processes = {counters}};
  CHECK_THAT(text_of(picture, Format::table, Time{101s}), !Catch::Contains(" old: "));
  CHECK_THAT(text_of(picture, Format::table, Time{145s}), Catch::Contains("\n  these numbers are 45.00s old: "));
}

// Errors.

TEST_CASE("a server whose page this user may not read is there all the same") {
  const Picture picture{.holders = {{8, {}}}, .closed = {7, 8}};
  const std::string text = text_of(picture, Format::table, Time{});
  CHECK(text ==
        "process 8: shows nothing that this user and this version may read\nprocess 7: shows nothing that this user "
        "and this version may read\n");
  const auto json = nlohmann::json::parse(text_of(picture, Format::json, Time{}));
  CHECK(json[1]["pid"] == 7);
  CHECK(json[1]["cores"].empty());
}

TEST_CASE("the pages of other users' servers are known to be closed") {
  TempDirectory directory;
  auto page = dispatch::CounterPage::make(directory.path(), 1, 1);
  REQUIRE(page);
  CHECK(closed_servers(directory.path()).empty());
  if (::geteuid() != 0) return;
  REQUIRE(std::filesystem::exists(directory.path()));
  ::chmod(directory.path().c_str(), 0755);
  REQUIRE(::setresuid(another_user, another_user, 0) == 0);  // access(2) checks the real user
  const std::vector<int> closed = closed_servers(directory.path());
  REQUIRE(::setresuid(0, 0, 0) == 0);
  CHECK(closed == std::vector<int>{::getpid()});
}

TEST_CASE("a ledger that cannot be read is told") {
  TempDirectory directory;
  auto page = dispatch::CounterPage::make(directory.path(), 1, 1);
  REQUIRE(page);
  (*page)->write(sample());
  std::filesystem::create_symlink("nowhere", directory / "ledger");
  const std::string fault =
      "the promises of other servers are not known: " + (directory / "ledger") + " cannot be read: ";
  CHECK_THAT(shown(directory.path(), Format::table), Catch::Contains(fault));
  KnownDirectories known;
  std::ostringstream out, err;
  CHECK(top_once(directory.path(), Format::json, known, out, err) == 0);
  CHECK_THAT(err.str(), Catch::StartsWith("corelane top: " + fault));
  CHECK(nlohmann::json::parse(out.str())[0]["cores"][0].at("others_ppm").is_null());
}

TEST_CASE("a directory that cannot be read is told without its control characters") {
  TempDirectory directory;
  const std::string file = directory / "a\x1b[2J";
  std::ofstream(file).flush();
  KnownDirectories known;
  std::ostringstream out, err;
  CHECK(top_once(file + "/b", Format::table, known, out, err) == 1);
  CHECK_THAT(err.str(), Catch::StartsWith("corelane top: " + (directory / "a?[2J/b") + ": Not a directory; "));
}
