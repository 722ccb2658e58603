// Trees of processes on a fake host: which processes belong to them, when they end, and how often they are read.
#include <sys/resource.h>

#include <atomic>
#include <catch2/catch.hpp>

#include "services/reserved/daemon/process_watch.h"
#include "tests/services/reserved/reserving_host.h"

using namespace corelane;
using namespace corelane::reserved;
using corelane::testing::FakeHost;
using Kind = corelane::testing::HostKind;

TEST_CASE("a tree goes as a whole, and ends with its last process") {
  FakeHost fake(GENERATE(Kind::v1, Kind::v2, Kind::affinity));
  const int app = fake.processes.fork_from(fake.shell), child = fake.processes.fork_from(app);
  REQUIRE(fake.reserve(app));
  const auto place = fake.cores_of(app) + fake.group_of(app);
  CHECK(fake.cores_of(child) + fake.group_of(child) == place);
  fake.kill(app);
  fake.controller().tick();
  CHECK(fake.cores_of(child) + fake.group_of(child) == place);
  CHECK(fake.controller().accounts().size() == 1);
  CHECK(fake.watched.back() == fake.processes.identity(child));
  fake.kill(child);
  CHECK(fake.controller().accounts().empty());
}

TEST_CASE("a process runs on its own reservation or that of the nearest tree that it is in") {
  FakeHost fake(GENERATE(Kind::v1, Kind::v2, Kind::affinity));
  const int app = fake.processes.fork_from(fake.shell), guest = fake.processes.fork_from(fake.shell);
  const int child = fake.processes.fork_from(app), grandchild = fake.processes.fork_from(child);
  const auto holds = [&](int pid) {
    const auto held = fake.controller().holding(fake.processes.identity(pid).value());
    return held ? held->id : no_reservation;
  };
  const ReservationId outer = fake.reserve(app).value().id;
  CHECK((holds(app) == outer && holds(grandchild) == outer));
  const ReservationId inner = fake.reserve(child).value().id;
  CHECK((holds(app) == outer && holds(child) == inner));
  CHECK(holds(fake.processes.fork_from(child)) == inner);
  const Process service = fake.processes.identity(guest).value();
  REQUIRE(fake.controller().lend(outer, service));
  REQUIRE(fake.controller().work_on(outer, service));
  CHECK(holds(guest) == no_reservation);
  CHECK(holds(fake.shell) == no_reservation);
}

TEST_CASE("a tree of one process has ended with it though its parent has not waited for it") {
  FakeHost fake(GENERATE(Kind::v1, Kind::v2, Kind::affinity));
  const int app = fake.processes.fork_from(fake.shell);
  REQUIRE(fake.reserve(app));
  fake.end(app);
  CHECK(fake.controller().accounts().empty());
}

TEST_CASE("one running process of a tree that goes on without its first process is watched, and no other") {
  FakeHost fake(GENERATE(Kind::v1, Kind::v2));
  const int app = fake.processes.fork_from(fake.shell);
  const int first = fake.processes.fork_from(app), second = fake.processes.fork_from(app);
  REQUIRE(fake.reserve(app));
  fake.end(app);
  CHECK(fake.watched.back() == fake.processes.identity(first));
  fake.end(first);
  CHECK(fake.watched.back() == fake.processes.identity(second));
  fake.end(second);
  CHECK(fake.controller().accounts().empty());
  CHECK(fake.watched.size() == 3);
}

TEST_CASE("a process of a tree that has a reservation of its own keeps that one") {
  FakeHost fake(GENERATE(Kind::v1, Kind::v2, Kind::affinity));
  const int app = fake.processes.fork_from(fake.shell), child = fake.processes.fork_from(app);
  REQUIRE(fake.reserve(child));
  const auto alone = fake.group_of(child) + fake.cores_of(child);
  REQUIRE(fake.reserve(app));
  CHECK(fake.group_of(child) + fake.cores_of(child) == alone);
  CHECK(fake.group_of(app) + fake.cores_of(app) != alone);
}

TEST_CASE("a tick looks at the parents of all processes as often for many trees as for one") {
  const auto passes_with = [](int trees) {
    FakeHost fake(Kind::affinity);
    for (int i = 0; i < trees; ++i) REQUIRE(fake.reserve(fake.processes.fork_from(fake.shell)));
    const int before = fake.processes.passes;
    fake.controller().tick();
    return fake.processes.passes - before;
  };
  CHECK(passes_with(3) == passes_with(1));
}

TEST_CASE("a tick looks at the processes of a deep tree as often as at those of a wide one") {
  const auto identities_of = [](bool deep) {
    FakeHost fake(Kind::affinity);
    const int app = fake.processes.fork_from(fake.shell);
    for (int i = 0, last = app; i < 20; ++i) last = fake.processes.fork_from(deep ? last : app);
    REQUIRE(fake.reserve(app));
    const int before = fake.processes.identities;
    fake.controller().tick();
    return fake.processes.identities - before;
  };
  CHECK(identities_of(true) == identities_of(false));
}

TEST_CASE("a question by someone without the right costs no look at all processes") {
  FakeHost fake(Kind::affinity);
  const int app = fake.processes.fork_from(fake.shell);
  const auto grant = fake.reserve(app);
  REQUIRE(grant);
  const int before = fake.processes.passes;
  CHECK(fake.controller().holding(fake.processes.identity(app).value(), false)->id == grant->id);
  CHECK(fake.processes.passes == before);
}

TEST_CASE("someone without the right has the cores of the tree that it was just started in, and no others") {
  FakeHost fake(GENERATE(Kind::v1, Kind::v2, Kind::affinity));
  const int app = fake.processes.fork_from(fake.shell), alone = fake.processes.fork_from(fake.shell);
  const auto grant = fake.reserve(app);
  REQUIRE((grant && fake.reserve(alone, CoresWanted{.count = 1}, {}, Extent::process)));
  const auto asked_by = [&](int parent) {
    const int pid = fake.processes.fork_from(fake.processes.fork_from(parent));
    return fake.controller().holding(fake.processes.identity(pid).value(), false);
  };
  const auto held = asked_by(app);
  REQUIRE(held);
  CHECK(held->id == grant->id);
  CHECK_FALSE(asked_by(fake.shell));
}

TEST_CASE("a process that cannot be watched for want of descriptors is not taken for ended") {
  const Process self = os::this_process();
  std::atomic<int> ended = 0;  // the watch's thread counts; the test reads it after the watch has ended
  ProcessWatch watch;
  watch.start({.ended = [&](const Process&) { ++ended; }, .tick = [] { return Duration{1h}; }});
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{.rlim_cur = 3, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  const auto refused = watch.watch(self);
  setrlimit(RLIMIT_NOFILE, &before);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error(), Catch::Contains("cannot be watched") && Catch::Contains("LimitNOFILE"));
  CHECK(watch.watch(self));
  watch.keep_only({});
  watch.stop();
  CHECK(ended == 0);
}
