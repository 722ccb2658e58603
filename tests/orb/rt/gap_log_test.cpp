#include "orb/rt/gap_log.h"

#include <catch2/catch.hpp>
#include <thread>

namespace gap_log_test {

using namespace corelane;
using namespace corelane::rt;
using namespace std::chrono_literals;

namespace {

constexpr CoreId core{1};
constexpr Time start{1s};

Gap gap(Duration begin, Duration length) { return {.begin = start + begin, .length = length, .core = core}; }

}  // namespace

TEST_CASE("an empty log excuses nothing") { CHECK(GapLog(4).external_time(core, start, start + 1s) == 0ns); }

TEST_CASE("gaps inside the window add up") {
  GapLog log(4);
  log.record(gap(10ms, 1ms));
  log.record(gap(20ms, 2ms));
  CHECK(log.external_time(core, start, start + 1s) == 3ms);
}

TEST_CASE("time that two gaps cover counts once") {
  GapLog log(4);
  log.record(gap(12ms, 4ms));
  log.record(gap(10ms, 4ms));
  log.record(gap(11ms, 1ms));
  CHECK(log.external_time(core, start, start + 1s) == 6ms);
}

TEST_CASE("a gap counts with the part that lies in the window") {
  GapLog log(4);
  log.record(gap(10ms, 10ms));
  CHECK(log.external_time(core, start + 15ms, start + 1s) == 5ms);
  CHECK(log.external_time(core, start, start + 12ms) == 2ms);
  CHECK(log.external_time(core, start + 12ms, start + 15ms) == 3ms);
  CHECK(log.external_time(core, start, start + 10ms) == 0ns);
  CHECK(log.external_time(core, start + 20ms, start + 30ms) == 0ns);
}

TEST_CASE("a preemption and another core's gap excuse nothing") {
  GapLog log(4);
  Gap preempted = gap(10ms, 1ms);
  preempted.preempted = true;
  log.record(preempted);
  Gap elsewhere = gap(10ms, 1ms);
  elsewhere.core = CoreId{2};
  log.record(elsewhere);
  CHECK(log.external_time(core, start, start + 1s) == 0ns);
  CHECK(log.gaps().size() == 2);
}

TEST_CASE("a full log counts what it drops") {
  GapLog log(2);
  for (int i = 0; i < 5; ++i) log.record(gap(i * 1ms, 1us));
  CHECK(log.gaps().size() == 2);
  CHECK(log.dropped() == 3);
}

TEST_CASE("many threads record without losing a gap") {
  constexpr int threads = 4, each = 1000;
  GapLog log(threads * each);
  {
    std::vector<std::jthread> writers;
    for (int t = 0; t < threads; ++t)
      writers.emplace_back([&log, t] {
        for (int i = 0; i < each; ++i) log.record(gap((t * each + i) * 2us, 1us));
      });
  }
  CHECK(log.gaps().size() == threads * each);
  CHECK(log.external_time(core, start, start + 1s) == threads * each * 1us);
}

}  // namespace gap_log_test
