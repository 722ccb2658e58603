// Shares of cores on a fake host: of process trees by control groups, of threads by SCHED_DEADLINE.
#include <catch2/catch.hpp>
#include <chrono>

#include "services/reserved/backends/cores/restore.h"
#include "tests/services/reserved/reserving_host.h"
#include "tests/support/quiet.h"

using namespace corelane;
using namespace corelane::reserved;
using corelane::testing::FakeHost;
using corelane::testing::Quiet;
using Kind = corelane::testing::HostKind;
using namespace std::chrono_literals;

TEST_CASE("a share is written where the kernel reads it") {
  FakeHost v1(Kind::v1), v2(Kind::v2);
  const Wanted share = ShareWanted{2ms, 10ms};
  const auto first = v1.reserve(v1.shell, share);
  REQUIRE(first);
  CHECK(v1.cpu.read("corelane-b" + std::to_string(first->id.value) + "/cpu.cfs_quota_us") == "2000");
  const auto second = v2.reserve(v2.shell, share);
  REQUIRE(second);
  CHECK(v2.unified.read(v2.group_of(v2.shell) + "/cpu.max") == "2000 10000");
}

TEST_CASE("a thread with a share is under SCHED_DEADLINE until it gives it back") {
  FakeHost fake(GENERATE(Kind::v1, Kind::v2));
  const auto grant = fake.reserve(fake.shell, ShareWanted{100us, 1ms}, {}, Extent::thread);
  REQUIRE(grant);
  CHECK(grant->guarantee == Guarantee::thread_deadline);
  CHECK(fake.processes.entries[fake.shell].scheduling.is_deadline());
  fake.controller().release(grant->id);
  CHECK_FALSE(fake.processes.entries[fake.shell].scheduling.is_deadline());
}

TEST_CASE("a thread is scheduled after its share as it was before, unless another program changed that meanwhile") {
  FakeHost fake(GENERATE(Kind::v1, Kind::v2));
  const os::SchedulingClass fifo{.policy = 1, .flags = 1, .priority = 50}, nice{.nice = -5};
  os::SchedulingClass& now = fake.processes.entries[fake.shell].scheduling;
  now = fifo;
  const auto share = [&] { return fake.reserve(fake.shell, ShareWanted{100us, 1ms}, {}, Extent::thread).value().id; };
  const ReservationId first = share();
  CHECK(now.is_deadline());
  SECTION("given back") {
    fake.controller().release(first);
    CHECK(now == fifo);
  }
  SECTION("set meanwhile") {
    now = nice;
    fake.controller().release(first);
    CHECK(now == nice);
  }
  SECTION("after a crash") {
    CHECK(restore(fake.host(), "").empty());
    CHECK(now == fifo);
  }
  CHECK(std::ranges::count(fake.journal.entries(), JournalEntry::Kind::policy, &JournalEntry::kind) == 0);
}

TEST_CASE("a process that cannot be held to a share does not stay on the core, even if others have shares there") {
  FakeHost fake(Kind::v1);
  const int first = fake.processes.fork_from(fake.shell), second = fake.processes.fork_from(fake.shell);
  fake.cpuset.make("docker");
  fake.cpuset.write("docker/cpuset.cpus", "0-1");
  REQUIRE(fake.cpuset.write("docker/tasks", std::to_string(second)) == 0);
  REQUIRE(fake.reserve(first, ShareWanted{2ms, 10ms}));
  fake.cpu.refused = {"cgroup.procs"};
  const auto refused = fake.reserve(second, ShareWanted{2ms, 10ms});
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().reason, Catch::Contains("cannot be held to its share"));
  CHECK(fake.processes.group_of(second, "cpuset") == "docker");
}

TEST_CASE("a thread goes back to another program's group, or to all others if that group is gone") {
  FakeHost fake(Kind::v1);
  const int thread = fake.processes.fork_from(fake.shell);
  fake.cpuset.make("docker");
  fake.cpuset.write("docker/cpuset.cpus", "0-1");
  REQUIRE(fake.cpuset.write("docker/tasks", std::to_string(thread)) == 0);
  const auto grant = fake.reserve(thread, ShareWanted{1ms, 10ms}, {}, Extent::thread);
  REQUIRE(grant);
  SECTION("given back") {
    fake.controller().release(grant->id);
    CHECK(fake.processes.group_of(thread, "cpuset") == "docker");
  }
  SECTION("after a crash") {
    CHECK(restore(fake.host(), "").empty());
    CHECK(fake.processes.group_of(thread, "cpuset") == "docker");
  }
  SECTION("gone") {
    REQUIRE(fake.cpuset.remove("docker") == 0);
    fake.controller().release(grant->id);
    CHECK(fake.processes.group_of(thread, "cpuset") == "corelane-default");
  }
}

TEST_CASE("a share that the kernel does not take back is asked for until it does") {
  FakeHost fake(GENERATE(Kind::v1, Kind::v2));
  const os::SchedulingClass fifo{.policy = 1, .priority = 50};
  os::SchedulingClass& now = fake.processes.entries[fake.shell].scheduling;
  now = fifo;
  const auto share = [&] { return fake.reserve(fake.shell, ShareWanted{100us, 1ms}, {}, Extent::thread).value().id; };
  const ReservationId first = share();
  fake.processes.refuses_classes = true;
  {
    const Quiet quiet;
    fake.controller().release(first);
  }
  fake.controller().tick();
  CHECK(now.is_deadline());
  fake.processes.refuses_classes = false;
  SECTION("at the next look") {
    fake.controller().tick();
    CHECK(now == fifo);
  }
  SECTION("or at the next start") {
    CHECK(restore(fake.host(), "").empty());
    CHECK(now == fifo);
  }
  SECTION("unless it is given again") {
    const ReservationId second = share();
    fake.controller().tick();
    CHECK(now.is_deadline());
    fake.controller().release(second);
    CHECK(now == fifo);
  }
  CHECK(std::ranges::count(fake.journal.entries(), JournalEntry::Kind::policy, &JournalEntry::kind) == 0);
}

TEST_CASE("a thread that sleeps since before it was moved is under SCHED_DEADLINE once it has run") {
  const Kind kind = GENERATE(Kind::v1, Kind::v2);
  FakeHost fake(kind);
  const int app = fake.processes.fork_from(fake.shell);
  fake.processes.entries[app].last_core = CoreId{0};
  fake.processes.refuses_deadline = true;
  const auto grant = fake.reserve(app, ShareWanted{1ms, 10ms}, {}, Extent::thread);
  REQUIRE(grant);
  REQUIRE_FALSE(grant->remarks.empty());
  CHECK_THAT(grant->remarks.front(), Catch::Contains("sleeps"));
  CHECK(fake.controller().tick());
  CHECK_FALSE(fake.processes.entries[app].scheduling.is_deadline());
  fake.processes.entries[app].last_core = grant->place.cores.front();
  SECTION("and the kernel takes it") {
    fake.processes.refuses_deadline = false;
    CHECK_FALSE(fake.controller().tick());
    CHECK(fake.processes.entries[app].scheduling.is_deadline());
  }
  SECTION("or the reservation ends, where the kernel refuses it then") {
    CHECK_FALSE(fake.controller().tick());
    const auto ended = fake.controller().look(grant->id);
    REQUIRE_FALSE(ended);
    CHECK_THAT(ended.error().reason, Catch::Contains("SCHED_DEADLINE"));
  }
}

TEST_CASE("a thread that the kernel refuses SCHED_DEADLINE runs as before") {
  FakeHost fake(Kind::v1);
  fake.processes.refuses_deadline = true;
  const auto grant = fake.reserve(fake.shell, ShareWanted{100us, 1ms}, {}, Extent::thread);
  REQUIRE_FALSE(grant);
  CHECK_THAT(grant.error().reason, Catch::Contains("CAP_SYS_NICE"));
  CHECK(fake.cores_of(fake.shell) == "0-3");
  CHECK(fake.controller().cores()[3].use == CoreUse::common);
}
