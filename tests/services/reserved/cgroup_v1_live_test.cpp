// Cpusets of this kernel, below a cpuset of the test.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <iostream>
#include <iterator>
#include <sstream>

#include "services/reserved/backends/cores/cgroup_v1.h"
#include "services/reserved/backends/cores/restore.h"
#include "tests/services/reserved/live_cpusets.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::reserved;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

// The backend in the test's cpuset, with two processes in it.
class LiveBackend {
 public:
  explicit LiveBackend(LiveCpusets& at)
      : at_(at), journal(Journal::open(directory_ / "journal").value()), backend(host(), at.root) {
    at.bring_in(one);
    at.bring_in(two);
  }
  Host host() { return {.cpuset = &at_.cpuset, .cpu = &at_.cpu, .processes = &processes, .journal = &journal}; }
  // Gives the second core to the process.
  Done<Remarks> give(const Sleeper& to, Extent extent = Extent::process, std::optional<ShareWanted> share = {}) {
    if (auto done = backend.set_common({at_.cores[0]}); !done) return Unexpected{done.error()};
    if (auto done = backend.make_set("r7", {.cores = {at_.cores[1]}}); !done) return Unexpected{done.error()};
    return backend.enter(
        {ReservationId{7}, "r7", {.process = to.process(), .extent = extent, .thread = to.pid()}, share});
  }
  void take() {
    backend.leave({7});
    backend.remove_set("r7");
    CHECK(backend.set_common(at_.cores));
  }

 private:
  LiveCpusets& at_;
  TempDirectory directory_;

 public:
  HostProcesses processes;
  Journal journal;
  Sleeper one, two;
  CgroupV1 backend;
};

}  // namespace

#define CORELANE_NEEDS(at)                                   \
  if (!(at).missing().empty()) {                             \
    std::cout << "SKIPPED: " << (at).missing() << std::endl; \
    return;                                                  \
  }

TEST_CASE("cpusets: a process that has a core is alone there, and goes back") {
  LiveCpusets at;
  CORELANE_NEEDS(at)
  LiveBackend live(at);
  const auto started = live.backend.start(at.cores);
  REQUIRE(started);
  CHECK(started->moved == 2);
  CHECK(at.set_of(live.one) == "corelane-default");
  REQUIRE(live.give(live.one));
  CHECK(at.set_of(live.one) == "corelane-r7");
  CHECK(at.cores_of(live.one) == at.second());
  CHECK(at.cores_of(live.two) == at.first());
  CHECK_FALSE(live.backend.processes_of({7})->empty());
  live.take();
  CHECK(at.set_of(live.one) == "corelane-default");
  CHECK(at.cores_of(live.one) == at.both());
}

TEST_CASE("cpusets: after the end the host is as it was found") {
  LiveCpusets at;
  CORELANE_NEEDS(at)
  LiveBackend live(at);
  const auto balance = at.cpuset.read(at.root + "/cpuset.sched_load_balance");
  REQUIRE(live.backend.start(at.cores));
  REQUIRE(live.give(live.one));
  CHECK(restore(live.host(), "").empty());  // the reservation still exists, as after a crash
  CHECK(at.children().empty());
  CHECK((at.set_of(live.one) == "root" && at.set_of(live.two) == "root"));
  CHECK(at.cores_of(live.one) == at.both());
  CHECK(at.cpuset.read(at.root + "/cpuset.sched_load_balance") == balance);
  CHECK(live.journal.entries().empty());
}

TEST_CASE("cpusets: a thread that was bound to a core is bound to it again") {
  LiveCpusets at;
  CORELANE_NEEDS(at)
  LiveBackend live(at);
  REQUIRE(live.backend.start(at.cores));
  REQUIRE(live.processes.set_affinity(live.one.pid(), {at.cores[0]}) == 0);
  REQUIRE(live.give(live.one));
  CHECK(at.cores_of(live.one) == at.second());
  live.take();
  CHECK(at.cores_of(live.one) == at.first());
}

TEST_CASE("cpusets: a set is empty once its process was killed") {
  LiveCpusets at;
  CORELANE_NEEDS(at)
  LiveBackend live(at);
  REQUIRE(live.backend.start(at.cores));
  REQUIRE(live.give(live.one, Extent::tree));
  live.one.kill_now();
  CHECK(live.backend.processes_of({7})->empty());
  live.take();
  CHECK(at.children() == std::vector<std::string>{"corelane-default"});
}

TEST_CASE("cpusets: a tree with a share is held to it by the cpu controller") {
  LiveCpusets at;
  CORELANE_NEEDS(at)
  LiveBackend live(at);
  REQUIRE(live.backend.start(at.cores));
  REQUIRE(live.give(live.one, Extent::tree, ShareWanted{2ms, 10ms}));
  const std::string group = at.root + "/corelane-b7/";
  CHECK(at.cpu.read(group + "cpu.cfs_quota_us") == "2000");
  CHECK(at.cpu.read(group + "cpu.cfs_period_us") == "10000");
  std::istringstream members(at.cpu.read(group + "cgroup.procs").value_or(""));
  const std::vector<int> pids{std::istream_iterator<int>(members), {}};
  CHECK(std::ranges::find(pids, live.one.pid()) != pids.end());
  live.take();
  CHECK_FALSE(at.cpu.has(group));
  CHECK(live.processes.group_of(live.one.pid(), "cpu") == at.root);
}

// Errors.

TEST_CASE("cpusets: SCHED_DEADLINE below a domain that others share is refused with what it needs") {
  LiveCpusets at;
  CORELANE_NEEDS(at)
  LiveBackend live(at);
  REQUIRE(live.backend.start(at.cores));
  const auto given = live.give(live.one, Extent::thread, ShareWanted{1ms, 10ms});
  REQUIRE_FALSE(given);
  CHECK_THAT(given.error(), Catch::Contains("SCHED_DEADLINE") && Catch::Contains("scheduling domain of its own"));
  live.take();
  CHECK(at.set_of(live.one) == "corelane-default");
}

TEST_CASE("cpusets: a root that does not exist is refused with the reason") {
  LiveCpusets at;
  CORELANE_NEEDS(at)
  LiveBackend live(at);
  CgroupV1 lost(live.host(), "corelane-test-none");
  const auto started = lost.start(at.cores);
  REQUIRE_FALSE(started);
  CHECK_THAT(started.error(), Catch::Contains("corelane-test-none is no cpuset"));
}
