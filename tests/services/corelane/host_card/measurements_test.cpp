// The measurements themselves, with few samples: how many there are, and what cannot be otherwise. No time is judged.
#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "orb/os/machine/topology.h"
#include "orb/rt/gap_log.h"
#include "services/corelane/host_card/hops.h"
#include "services/corelane/host_card/load_threads.h"
#include "services/corelane/host_card/measure_host.h"
#include "services/corelane/host_card/migrations.h"
#include "services/corelane/host_card/wake_ups.h"
#include "tests/services/corelane/host_card/two_cores.h"

namespace measurements_test {

using namespace corelane;
using namespace corelane::tool;
using eval::WakeLoad;

namespace {

CoreId any_core() { return os::Topology::detect()->cores().front().core; }

bool all_positive(const std::vector<Duration>& samples) {
  return std::ranges::all_of(samples, [](Duration sample) { return sample > Duration::zero(); });
}

}  // namespace

TEST_CASE("each migration of a thread is a sample") {
  const auto cores = testing::two_cores();
  if (!cores) return;
  const auto [one, other] = *cores;
  const auto itself = migrate_itself(one, other, 11);
  REQUIRE(itself);
  CHECK(itself->size() == 11);
  CHECK(all_positive(*itself));
  const auto sleeping = migrate_sleeping(one, other, other, 11);
  REQUIRE(sleeping);
  CHECK(sleeping->size() == 11);
}

TEST_CASE("a manager beside the target core counts the moves to that core only") {
  const auto cores = testing::two_cores();
  if (!cores) return;
  const auto [one, other] = *cores;
  const auto running = migrate_running(one, other, other, 11);
  REQUIRE(running);
  CHECK(running->size() == 6);
  CHECK(all_positive(*running));
}

TEST_CASE("each wake-up of either thread is a sample of a hop") {
  const auto samples = hop(any_core(), any_core(), 20);
  REQUIRE(samples);
  CHECK(samples->size() == 40);
  CHECK(all_positive(*samples));
  const auto cores = testing::two_cores();
  if (!cores) return;
  const auto between = hop(cores->first, cores->second, 20);
  REQUIRE(between);
  CHECK(between->size() == 40);
}

TEST_CASE("threads of one core that yield to each other switch at most once in each yield") {
  const auto samples = switch_context(any_core(), 100);
  if (!samples) {
    CHECK(samples.error().why == "no yield led to the other thread");
    return;
  }
  CHECK(samples->size() <= 200);
  CHECK(all_positive(*samples));
}

TEST_CASE("a thread that cannot be started leaves its measurement out, with the core and the reason") {
  const auto samples = hop(any_core(), CoreId{8191}, 1);
  REQUIRE_FALSE(samples);
  CHECK_THAT(samples.error().why, Catch::StartsWith("no thread on core 8191: "));
}

TEST_CASE("wake-ups are measured under each load, and no part is longer than the whole") {
  const WakeLoad load = GENERATE(WakeLoad::idle, WakeLoad::cpu, WakeLoad::io, WakeLoad::kernel);
  const bool real_time = GENERATE(true, false);
  const auto latency = measure_wake_ups({.core = any_core(), .load = load, .real_time = real_time, .wake_ups = 10});
  REQUIRE(latency);
  CHECK(latency->load == load);
  CHECK(latency->real_time == real_time);
  CHECK(latency->late.count == 10);
  CHECK(latency->late.min > Duration::zero());
  CHECK(latency->machine.count == (load == WakeLoad::idle ? 0 : 10));
  CHECK(latency->machine.max <= latency->late.max);
  CHECK(latency->ready.max <= latency->late.max);
  CHECK(latency->timer.max <= latency->late.max);
  CHECK(latency->timer.count == latency->ready.count);
}

TEST_CASE("a load that cannot be made says why") {
  rt::GapLog gaps(16);
  CHECK(LoadThreads(WakeLoad::idle, CoreId{8191}, gaps).fault().empty());
  CHECK_THAT(LoadThreads(WakeLoad::cpu, CoreId{8191}, gaps).fault(), Catch::StartsWith("no thread can be started: "));
}

}  // namespace measurements_test
