#include "orb/dispatch/manager/core_changes.h"

#include <vector>

#include "orb/dispatch/admission/admission_control.h"
#include "orb/dispatch/manager_options.h"
#include "tests/orb/dispatch/fixture.h"

using namespace corelane;
using namespace corelane::dispatch;
using namespace corelane::dispatch::test;
using namespace std::chrono_literals;

namespace {

constexpr CoreId first_core{0}, second_core{5}, foreign_core{3};

// Two leased cores with nothing on them.
struct TwoCores {
  TwoCores() {
    provider.mine.reserve(100);
    provider.leases = leases;
  }
  void lose(CoreId core) { changes.note(sched::CoreLost{.at = now, .core = core}, now); }
  void give_back(CoreId core) { changes.note(sched::CoreReturned{.at = now, .core = core}, now); }
  std::optional<CoreId> leave() {
    std::span<const sched::Command> commands;
    return changes.leave_lost(now, commands);
  }
  // Returns the cores that are used again.
  std::vector<CoreId> take_back() {
    std::vector<CoreId> taken;
    changes.take_back(now, [&](const sched::Fact& fact) {
      taken.push_back(std::get<sched::CoreReturned>(fact).core);
      manager.decide(fact);
    });
    return taken;
  }

  Time now = Time{} + 1s;
  const ExecutiveOptions options = bare_options();
  const std::vector<CoreLease> leases{{.core = first_core, .physical_core = 0},
                                      {.core = second_core, .physical_core = 1}};
  FakeProvider provider{};
  BestEffortServers servers{};
  os::Parker parker{};
  NoteInbox inbox{options.max_tasks, parker};
  Recorder recorder{options.recorder, manager_options(options, leases), options.max_tasks};
  RecordedManager manager{manager_options(options, leases), nullptr};
  LedgerClient promises{options, leases, provider, servers, manager};
  CorePools pools{options, leases, inbox, recorder};
  CoreChanges changes{leases, false, manager, promises, pools};
};

}  // namespace

TEST_CASE("the pool of a core is found by the core's number") {
  const TwoCores cores;
  REQUIRE(cores.pools.of(second_core));
  CHECK(cores.pools.of(first_core)->core() == first_core);
  CHECK(cores.pools.of(second_core)->core() == second_core);
  CHECK_FALSE(cores.pools.of(foreign_core));
  CHECK_FALSE(cores.pools.of(CoreId{6}));
  CHECK_FALSE(cores.pools.of(no_core));
}

TEST_CASE("a lost core that returns before it was left is used on") {
  TwoCores cores;
  CHECK(cores.changes.wake_at() == never);
  cores.lose(second_core);
  CHECK(cores.changes.has_lost());
  CHECK(cores.changes.wake_at() <= cores.now);
  cores.give_back(second_core);
  CHECK_FALSE(cores.changes.has_lost());
  CHECK(cores.changes.wake_at() == never);
  CHECK_FALSE(cores.leave());
  CHECK(cores.take_back().empty());
}

TEST_CASE("lost cores are left one after another, and the manager moves to one that is there") {
  TwoCores cores;
  REQUIRE(cores.promises.home() == first_core);
  cores.lose(first_core);
  CHECK(cores.leave() == first_core);
  CHECK(cores.promises.home() == second_core);
  CHECK_FALSE(cores.leave());
  cores.give_back(first_core);
  CHECK(cores.take_back() == std::vector{first_core});
  CHECK(cores.promises.home() == second_core);
  CHECK(cores.changes.binds_below_again());
  CHECK_FALSE(cores.changes.binds_below_again());
  CHECK(cores.changes.wake_at() == never);
}

TEST_CASE("a core is left without the ledger when that had no time for as long as the patience lasts") {
  TwoCores cores;
  cores.provider.busy = true;
  cores.lose(second_core);
  CHECK_FALSE(cores.leave());
  CHECK(cores.changes.wake_at() > cores.now);
  cores.now += AdmissionControl::patience;
  CHECK(cores.leave() == second_core);
  CHECK_FALSE(cores.changes.has_lost());
}
