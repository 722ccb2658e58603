// CPU masks of threads: which the backend set, and which the thread set itself.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>

#include "orb/os/process/child_process.h"
#include "services/reserved/backends/cores/restore.h"
#include "tests/services/reserved/reserving_host.h"

using namespace corelane;
using namespace corelane::reserved;
using corelane::testing::FakeHost;
using Kind = corelane::testing::HostKind;
using namespace std::chrono_literals;

TEST_CASE("processes that start while cores are reserved get all cores when they come back") {
  FakeHost fake(Kind::affinity);
  const int app = fake.processes.fork_from(fake.shell);
  const auto grant = fake.reserve(app);
  REQUIRE(grant);
  const int outside = fake.processes.fork_from(fake.shell), inside = fake.processes.fork_from(app);
  fake.processes.set_affinity(outside, os::parse_core_list("2-3").value());  // it widens its own mask
  fake.controller().tick();
  CHECK(fake.cores_of(outside) == "2");
  fake.controller().release(grant->id);
  CHECK(fake.cores_of(outside) == "2-3");
  CHECK(fake.cores_of(inside) == "0-3");
}

TEST_CASE("a thread that bound itself to what becomes the default set keeps that in the end") {
  FakeHost fake(Kind::affinity);
  const int app = fake.processes.fork_from(fake.shell), bound = fake.processes.fork_from(fake.shell);
  fake.processes.set_affinity(bound, {{0}});
  fake.before = fake.processes.entries;
  REQUIRE(fake.reserve(app, CoresWanted{.count = 3}));
  CHECK(fake.cores_of(fake.shell) == "0");
  fake.controller().stop();
  CHECK(restore(fake.host(), "") == Remarks{});
  CHECK(fake.cores_of(bound) == "0");
  fake.check_as_found();
}

TEST_CASE("a thread that binds itself to one of its own reserved cores stays there") {
  FakeHost fake(Kind::affinity);
  const int app = fake.processes.fork_from(fake.shell);
  REQUIRE(fake.reserve(app, CoresWanted{.count = 2}));
  const auto both = fake.processes.affinity(app).value();
  REQUIRE(both.size() == 2);
  fake.processes.set_affinity(app, {both.back()});
  fake.controller().tick();
  CHECK(fake.processes.affinity(app).value() == std::vector<CoreId>{both.back()});
}

TEST_CASE("a thread that bound itself to one of its reserved cores stays bound when they are given back") {
  FakeHost fake(GENERATE(Kind::v1, Kind::v2, Kind::affinity));
  const int app = fake.processes.fork_from(fake.shell);
  const auto grant = fake.reserve(app, CoresWanted{.count = 2});
  REQUIRE(grant);
  fake.processes.set_affinity(app, {{2}});
  if (GENERATE(false, true)) fake.controller().tick();
  const bool ends = GENERATE(false, true);
  if (ends)
    fake.controller().stop();
  else
    fake.controller().release(grant->id);
  if (ends) CHECK(restore(fake.host(), "") == Remarks{});
  CHECK(fake.processes.affinity(app).value() == std::vector<CoreId>{{2}});
}

TEST_CASE("without control groups a process goes to its cores and back without a stop at what the others have") {
  FakeHost fake(Kind::affinity);
  const int app = fake.processes.fork_from(fake.shell);
  const auto grant = fake.reserve(app, CoresWanted{.count = 3});
  REQUIRE(grant);
  fake.controller().release(grant->id);
  const auto cores = [](const char* text) { return os::parse_core_list(text).value(); };
  CHECK(fake.processes.given[app] == std::vector{cores("1-3"), cores("0-3")});
  CHECK(fake.processes.given[fake.shell] == std::vector{cores("0"), cores("0-3")});
}

TEST_CASE("the processes of one process are itself and what it started") {
  const os::ChildProcess child({"sleep", "1000"});
  CHECK(HostProcesses(child.pid()).all() == std::vector<int>{child.pid()});
  const auto mine = HostProcesses(getpid()).all();
  CHECK(std::ranges::count(mine, child.pid()) == 1);
  CHECK(std::ranges::count(mine, getppid()) == 0);
  CHECK(std::ranges::count(HostProcesses().all(), getppid()) == 1);
}

TEST_CASE("a thread that was bound to a core is bound to it again by each change of sets") {
  FakeHost fake(Kind::v1);  // this kernel forgets bindings, as kernels before 6.2 do
  const int app = fake.processes.fork_from(fake.shell), bound = fake.processes.fork_from(fake.shell);
  fake.processes.set_affinity(bound, {{3}});
  fake.before = fake.processes.entries;
  fake.controller();
  CHECK(fake.cores_of(bound) == "3");
  const auto grant = fake.reserve(app);
  REQUIRE(grant);
  CHECK(fake.cores_of(bound) == "0-2");
  fake.controller().release(grant->id);
  CHECK(fake.cores_of(bound) == "3");
  fake.processes.set_affinity(bound, {{1}, {3}});
  const auto again = fake.reserve(app);
  REQUIRE(again);
  CHECK(fake.cores_of(bound) == "1");
  fake.controller().stop();
  CHECK(restore(fake.host(), "").empty());
  CHECK(fake.cores_of(bound) == "1,3");
}

// Errors.

TEST_CASE(
    "after a crash, processes that bound themselves since they were moved stay bound, and the others get all cores "
    "again") {
  FakeHost fake(Kind::affinity);
  const int app = fake.processes.fork_from(fake.shell), bound = fake.processes.fork_from(app);
  REQUIRE(fake.reserve(app, CoresWanted{.count = 2}));
  REQUIRE(fake.cores_of(bound) == "2-3");
  const int inherits = fake.processes.fork_from(app);
  fake.processes.set_affinity(bound, {{2}});
  CHECK(restore(fake.host(), "") == Remarks{});
  CHECK(fake.cores_of(bound) == "2");
  CHECK(fake.cores_of(app) == "0-3");
  CHECK(fake.cores_of(inherits) == "0-3");
}

TEST_CASE("after a crash, a process that inherited a reduced mask gets all cores again") {
  FakeHost fake(Kind::affinity);
  const int holder = fake.processes.fork_from(fake.shell);
  REQUIRE(fake.reserve(holder));
  const int late = fake.processes.fork_from(fake.shell), of_holder = fake.processes.fork_from(holder);
  CHECK(fake.cores_of(late) != "0-3");
  CHECK(restore(fake.host(), "").empty());
  fake.check_as_found();
  CHECK((fake.cores_of(late) == "0-3" && fake.cores_of(of_holder) == "0-3"));
  CHECK(fake.journal.entries().empty());
}

TEST_CASE("shares without control groups are refused with what would do") {
  FakeHost fake(Kind::affinity);
  const auto grant = fake.reserve(fake.shell, ShareWanted{2ms, 10ms});
  REQUIRE_FALSE(grant);
  CHECK_THAT(grant.error().reason, Catch::Contains("shares need control groups"));
}

TEST_CASE("shares without control groups are refused at once where every core is taken, and not queued") {
  FakeHost fake(Kind::affinity);
  while (fake.reserve(fake.processes.fork_from(fake.shell))) {  // bound: the number of cores
  }
  const auto grant = fake.reserve(fake.shell, ShareWanted{2ms, 10ms}, Terms{.queues = true});
  REQUIRE_FALSE(grant);
  CHECK_THAT(grant.error().reason, Catch::Contains("shares need control groups"));
}
