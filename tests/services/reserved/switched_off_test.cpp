// Cores that are switched off, and on again, while the daemon runs.
#include <catch2/catch.hpp>
#include <chrono>

#include "services/reserved/backends/cores/restore.h"
#include "tests/services/reserved/reserving_host.h"

using namespace corelane;
using namespace corelane::reserved;
using Catch::Contains;
using corelane::testing::FakeHost;
using Kind = corelane::testing::HostKind;
using namespace std::chrono_literals;

TEST_CASE("a process whose core is switched off loses the core and is told why") {
  FakeHost fake(GENERATE(Kind::v1, Kind::v2, Kind::affinity));
  const int app = fake.processes.fork_from(fake.shell), other = fake.processes.fork_from(fake.shell);
  const auto grant = fake.reserve(app);
  REQUIRE(grant);
  REQUIRE(grant->place.cores == std::vector<CoreId>{{3}});
  fake.switch_off({3});
  CHECK(fake.controller().accounts().empty());
  const auto now = fake.controller().look(grant->id);
  REQUIRE_FALSE(now);
  CHECK_THAT(now.error().reason, Contains("the kernel has no longer 3") && Contains("ask again"));
  CHECK(fake.controller().cores().at(3).use == CoreUse::held);
  const auto next = fake.reserve(other, CoresWanted{.count = 2});
  REQUIRE(next);
  CHECK(next->place.cores == std::vector<CoreId>{{1}, {2}});
  CHECK_FALSE(fake.reserve(app));
  fake.switch_on({3});
  CHECK(fake.controller().cores().at(3).use == CoreUse::common);
  CHECK(fake.reserve(app));
  fake.controller().stop();
  CHECK(restore(fake.host(), "") == Remarks{});
}

TEST_CASE("a core that is switched off comes back to all processes when it is switched on") {
  FakeHost fake(Kind::v1);
  const int app = fake.processes.fork_from(fake.shell);
  const auto grant = fake.reserve(app);
  REQUIRE(grant);
  fake.switch_off({2});
  CHECK(fake.cores_of(fake.shell) == "0-1");
  CHECK(fake.controller().look(grant->id));
  fake.controller().release(grant->id);
  CHECK(fake.cores_of(fake.shell) == "0-1,3");
  fake.switch_on({2});
  CHECK(fake.cores_of(fake.shell) == "0-3");
  fake.controller().stop();
  CHECK(restore(fake.host(), "") == Remarks{});
  fake.check_as_found();
}

TEST_CASE("a thread runs on all cores in the end though one was switched off meanwhile") {
  FakeHost fake(Kind::affinity);
  const int app = fake.processes.fork_from(fake.shell);
  const auto grant = fake.reserve(app);
  REQUIRE(grant);
  CHECK(fake.cores_of(fake.shell) == "0-2");
  fake.switch_off({2});
  CHECK(fake.cores_of(fake.shell) == "0-1");
  fake.switch_on({2});
  CHECK(fake.cores_of(fake.shell) == "0-2");
  fake.controller().release(grant->id);
  CHECK(fake.cores_of(fake.shell) == "0-3");
  fake.controller().stop();
  CHECK(restore(fake.host(), "") == Remarks{});
  fake.check_as_found();
}

TEST_CASE("all processes that share a core that is switched off are told") {
  FakeHost fake(Kind::v1);
  const int one = fake.processes.fork_from(fake.shell), two = fake.processes.fork_from(fake.shell);
  const ShareWanted share{1ms, 10ms};
  const auto first = fake.reserve(one, share), second = fake.reserve(two, share);
  REQUIRE((first && second));
  fake.switch_off({3});
  CHECK_FALSE(fake.controller().look(first->id));
  CHECK_FALSE(fake.controller().look(second->id));
  CHECK(fake.reserve(one, share)->place.cores == std::vector<CoreId>{{2}});
}
