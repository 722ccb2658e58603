#include "orb/rt/work.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>

using namespace corelane;
using namespace corelane::rt;
using namespace std::chrono_literals;

TEST_CASE("work charges its demand in iterations, in proportion") {
  const WorkReport one = work(1ms);
  const WorkReport three = work(3ms);
  CHECK(one.iterations == iterations_per_millisecond());
  CHECK(three.iterations == 3 * one.iterations);
}

TEST_CASE("work takes at least about its demand, since calibration took the fastest sample") {
  // The clock cannot run faster than the best sample of the calibration by more than the sampling error.
  CHECK(work(5ms).elapsed > 2ms);
}

TEST_CASE("the time of the gaps lies within the time that passed") {
  GapLog log(10'000);
  const WorkReport report = work(20ms, &log);
  CHECK(report.external + report.preempted <= report.elapsed);
  Duration recorded{};
  for (const Gap& gap : log.gaps()) recorded += gap.length;
  CHECK(recorded == report.external + report.preempted);
}

TEST_CASE("work counts the gaps that were recorded without a switch, and reports the longest one") {
  GapLog log(10'000);
  const WorkReport report = work(20ms, &log);
  std::uint64_t gaps = 0;
  Duration longest{};
  for (const Gap& gap : log.gaps()) {
    if (gap.switches > 0) continue;
    ++gaps;
    longest = std::max(longest, gap.length);
  }
  CHECK(report.unswitched_gaps == gaps);
  CHECK(report.longest_unswitched == longest);
}

TEST_CASE("only a gap in which the thread lost its core may be other threads'") {
  GapLog log(10'000);
  work(20ms, &log);
  for (const Gap& gap : log.gaps()) CHECK((gap.switches > 0 || gap.cause == GapCause::machine));
}

TEST_CASE("a gap is the machine's but for the time that others had the core, or theirs where little else is left") {
  struct Case {
    Duration length, off_core, others;
  };
  const Case c = GENERATE(Case{1275us, 5us, 5us}, Case{1275us, 1200us, 1200us}, Case{1275us, 1260us, 1275us},
                          Case{30us, 10us, 30us}, Case{1ms, 1ms, 1ms}, Case{1ms, 2ms, 1ms}, Case{1ms, -1us, 0us});
  CHECK(preempted_part(c.length, c.off_core) == c.others);
}

// Edges.

TEST_CASE("no demand is no work") {
  CHECK(work(0ns).iterations == 0);
  CHECK(work(-1ms).iterations == 0);
}
