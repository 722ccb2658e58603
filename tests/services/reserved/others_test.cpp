// Another program works on the same control groups: a second corelane-reserved, or a manager of cpusets.
#include <catch2/catch.hpp>

#include "services/reserved/backends/cores/restore.h"
#include "services/reserved/backends/made_groups.h"
#include "tests/services/reserved/daemon_inside.h"
#include "tests/services/reserved/reserving_host.h"
#include "tests/support/quiet.h"

using namespace corelane;
using namespace corelane::reserved;
using namespace corelane::testing;
using Catch::Contains;
using Kind = corelane::testing::HostKind;

TEST_CASE("groups of another daemon are told from those of this one's journal") {
  FakeHost fake(GENERATE(Kind::v1, Kind::v2));
  CHECK(nobody_else(fake.host(), ""));
  REQUIRE(fake.reserve(fake.shell));
  CHECK(nobody_else(fake.host(), ""));
  CHECK(nobody_else(fake.host(), "elsewhere"));
  const TempDirectory elsewhere;
  Journal journal = Journal::open(elsewhere / "journal").value();
  Host host = fake.host();
  host.journal = &journal;
  const auto alone = nobody_else(host, "");
  REQUIRE_FALSE(alone);
  CHECK_THAT(alone.error(), Contains("another corelane-reserved works below the same root"));
}

TEST_CASE("a default set that another program removes or changes is made anew") {
  const Quiet quiet;
  FakeHost fake;
  const int app = fake.processes.fork_from(fake.shell);
  fake.before = fake.processes.entries;
  REQUIRE(fake.reserve(app));
  const bool removes = GENERATE(true, false);
  if (removes) {
    fake.cpuset.write("tasks", std::to_string(fake.shell));
    REQUIRE(fake.cpuset.remove("corelane-default") == 0);
  } else {
    fake.cpuset.write("corelane-default/cpuset.cpus", "0");
  }
  fake.controller().tick();
  CHECK(fake.cpuset.read("corelane-default/cpuset.cpus") == "0-2");
  CHECK(fake.cores_of(fake.shell) == "0-2");
  fake.controller().stop();
  CHECK(restore(fake.host(), "") == Remarks{});
  fake.check_as_found();
}

TEST_CASE("a grant on cores that another program's cpuset also has says so") {
  FakeHost fake;
  fake.cpuset.make("docker");
  fake.cpuset.write("docker/cpuset.cpus", "2-3");
  const auto grant = fake.reserve(fake.shell);
  REQUIRE(grant);
  REQUIRE(grant->remarks.size() == 1);
  CHECK_THAT(grant->remarks.front(), Contains("docker may run on 3, too"));
}

// On this kernel.

TEST_CASE("a second daemon below the same root with another runtime directory does not start") {
  check_inside([](const LiveCpusets& at) {
    Faults faults;
    Sleeper one, two;
    RunningDaemon daemon = daemon_of(at);
    ReservationClient client(daemon);
    client.reserve(one.pid(), 1);
    const TempDirectory place;
    std::vector<std::string> words = options_of(at);
    words.insert(words.begin(), {daemon_program(), "-ORBRuntimeDirectory", place.path()});
    words.insert(words.end(), {"-ORBReservedBackend", "auto"});
    os::ChildProcess second(words, {.joins_errors = true});
    const std::string said = second.read_all().value_or("");
    faults.unless(said.find("another corelane-reserved works below the same root") != said.npos, "it says " + said);
    faults.differ(second.wait()->text(), std::string("exit status 1"), "the end");
    faults.differ(at.set_of(two), std::string("corelane-default"), "where others are");
    faults.differ(at.cores_of(two), at.first(), "where others run");
    return faults.text();
  });
}
