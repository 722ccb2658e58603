// Tests the counters of instructions and cache accesses; on machines without them, what is said instead.
#include "orb/os/machine/cache_counters.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <vector>

namespace cache_counters_test {

using namespace corelane::os;
using Catch::Contains;

namespace {

// Reads memory in steps that miss the small caches.
std::uint64_t read_widely() {
  std::vector<std::uint64_t> memory(std::size_t{4} << 20, 1);
  std::uint64_t sum = 0;
  for (int round = 0; round < 4; ++round)
    for (std::size_t i = 0; i < memory.size(); i += 16) sum += memory[i];
  return sum;
}

}  // namespace

TEST_CASE("an intensity is the accesses per 1,000 instructions, rounded and limited") {
  CHECK(intensity_of(0, 1000) == 0);
  CHECK(intensity_of(25, 1000) == 25);
  CHECK(intensity_of(1'499, 1'000'000) == 1);
  CHECK(intensity_of(1'500, 1'000'000) == 2);
  CHECK(intensity_of(65'535, 1000) == 65'535);
  CHECK(intensity_of(1'000'000, 1000) == 65'535);
}

TEST_CASE("a thread is counted, or it is said why not") {
  auto counters = CacheCounters::of_thread(0);
  if (!counters) {
    std::puts(("SKIPPED: " + counters.error()).c_str());
    CHECK_THAT(counters.error(), Contains("perf_event_open: "));
    return;
  }
  REQUIRE(read_widely() == 4 * (std::uint64_t{4} << 20) / 16);
  // A counter that other programs need at the same time does not run all the time.
  if (const auto intensity = counters->intensity()) CHECK(*intensity > 0);
  if (const auto metrics = counters->metrics()) {
    CHECK(metrics->accesses > 0);
    // The two are counted over times that differ by a few instructions.
    if (metrics->misses) CHECK(*metrics->misses <= 1.01 * metrics->accesses);
  }
}

TEST_CASE("a thread that does not exist is not counted") {
  const auto counters = CacheCounters::of_thread(0x3fff'ffff);
  REQUIRE_FALSE(counters);
  CHECK_THAT(counters.error(), Contains("perf_event_open: "));
}

}  // namespace cache_counters_test
