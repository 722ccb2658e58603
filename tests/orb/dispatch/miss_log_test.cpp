#include "orb/dispatch/miss_log.h"

#include <catch2/catch.hpp>

using namespace corelane;
using namespace corelane::dispatch;
using namespace std::chrono_literals;

namespace {

Miss miss(int number) { return {.release = Time{number * 1ms}, .deadline = {}, .finished = {}, .core = CoreId{0}}; }

}  // namespace

TEST_CASE("a task without a miss has none to show") { CHECK(MissLog().latest().empty()); }

TEST_CASE("misses are kept in their order") {
  MissLog log;
  for (int i = 0; i < 3; ++i) log.record(miss(i));
  REQUIRE(log.latest().size() == 3);
  CHECK(log.latest().front().release == Time{0ms});
  CHECK(log.latest().back().release == Time{2ms});
}

TEST_CASE("the newest misses are kept if there are more than fit") {
  const int excess = GENERATE(0, 1, 7);
  MissLog log;
  for (int i = 0; i < static_cast<int>(MissLog::capacity) + excess; ++i) log.record(miss(i));
  const auto latest = log.latest();
  REQUIRE(latest.size() == MissLog::capacity);
  CHECK(latest.front().release == Time{excess * 1ms});
  CHECK(latest.back().release == Time{(static_cast<int>(MissLog::capacity) + excess - 1) * 1ms});
}
