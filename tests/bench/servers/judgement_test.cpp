// How the benchmark of servers judges responses: what it excuses, and what not.
#include "bench/servers/judgement.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "bench/servers/responses.h"
#include "orb/rt/stall_watch.h"

using namespace corelane;
using namespace std::chrono_literals;
using rt::GapCause;
using servers::Judgement;
using servers::Run;

namespace {

constexpr CoreId tasks{1}, managers{0}, elsewhere{2};
constexpr Duration budget = 1ms;

Time at(Duration time) { return Time{100s} + time; }

// A job that came at its release and began at once.
Run run(std::uint64_t job, Duration begin, Duration end) {
  return {.job = JobId{job}, .sent = at(begin), .release = at(begin), .begin = at(begin), .end = at(end)};
}

struct Case {
  void gap(Duration begin, Duration length, CoreId core = tasks, GapCause cause = GapCause::machine) {
    log.record({.begin = at(begin), .length = length, .core = core, .cause = cause});
  }
  Judgement judge(const std::vector<Run>& runs) const {
    return servers::judge(runs, budget, overruns, {log, tasks, managers});
  }
  rt::GapLog log{16};
  servers::Overruns overruns;
};

}  // namespace

TEST_CASE("without a gap a response is what it was") {
  const Judgement judged = Case().judge({run(1, 0ms, 2ms), run(2, 5ms, 8ms)});
  CHECK(judged.jobs == 2);
  CHECK(judged.left_out == 0);
  CHECK(judged.longest == 3ms);
  CHECK(judged.attributed == 3ms);
  CHECK(judged.unbraked == 3ms);
}

TEST_CASE("the machine's time on the tasks' core is no response of theirs and counts once") {
  Case bench;
  bench.gap(1ms, 2ms);
  bench.gap(2ms, 2ms);   // half of it overlaps the previous gap
  bench.gap(9ms, 5ms);   // the job ended at 10 ms
  bench.gap(-3ms, 4ms);  // the job came at 0
  const Judgement judged = bench.judge({run(1, 0ms, 10ms)});
  CHECK(judged.longest == 10ms);
  CHECK(judged.attributed == 10ms - 4ms - 1ms);
}

TEST_CASE("gaps that prove nothing about the machine, or are on other cores, excuse nothing") {
  Case bench;
  bench.gap(1ms, 1ms, tasks, GapCause::preempted);
  bench.gap(2ms, 1ms, elsewhere);
  CHECK(bench.judge({run(1, 0ms, 10ms)}).attributed == 10ms);
}

TEST_CASE("the manager's core counts only on the way of a job") {
  Case bench;
  Run late = run(1, 0ms, 10ms);
  late.begin = at(3ms);
  SECTION("that was under way when it stood still") {
    bench.gap(-1ms, 6ms, managers);
    CHECK(bench.judge({late}).attributed == 10ms - 3ms);  // the job began at 3 ms
  }
  SECTION("not where it stood still later") {
    bench.gap(rt::StallWatch::interval + 1ns, 1ms, managers);
    CHECK(bench.judge({late}).attributed == 10ms);
  }
  SECTION("not for one that waited for its time") {
    bench.gap(-1ms, 6ms, managers);
    late.sent = at(-2ms);
    CHECK(bench.judge({late}).attributed == 10ms);
  }
  SECTION("and what both cores lost is lost once") {
    bench.gap(0ms, 2ms, managers);
    bench.gap(1ms, 2ms);
    CHECK(bench.judge({late}).attributed == 10ms - 3ms);
  }
}

TEST_CASE("a job is left out that the machine alone made overrun") {
  Case bench;
  bench.gap(1ms, 2ms);
  bench.overruns.note(JobId{1}, budget + 2ms);
  bench.overruns.note(JobId{2}, budget + 1ns);
  const Judgement judged = bench.judge({run(1, 0ms, 9ms), run(2, 20ms, 27ms), run(3, 30ms, 31ms)});
  CHECK(judged.left_out == 1);
  CHECK(judged.jobs == 2);
  CHECK(judged.longest == 7ms);  // of the second job, which overran by itself
}

TEST_CASE("a job that overran by more than the machine took counts, and so do gaps before it began") {
  Case bench;
  bench.gap(-2ms, 4ms);
  bench.overruns.note(JobId{1}, budget + 2ms + 1ns);
  Run waited = run(1, 0ms, 9ms);
  waited.release = waited.sent = at(-2ms);
  const Judgement judged = bench.judge({waited});
  CHECK(judged.left_out == 0);
  CHECK(judged.attributed == 11ms - 4ms);
}

TEST_CASE("the kernel's brake is told apart and excuses nothing") {
  Case bench;
  bench.gap(2ms, 3ms, tasks, GapCause::throttled);
  bench.gap(2ms, 3ms, managers, GapCause::throttled);
  const Judgement judged = bench.judge({run(1, 0ms, 10ms)});
  CHECK(judged.attributed == 10ms);
  CHECK(judged.unbraked == 7ms);
  SECTION("and counts once beside the machine's time") {
    bench.gap(4ms, 3ms);
    const Judgement both = bench.judge({run(1, 0ms, 10ms)});
    CHECK(both.attributed == 7ms);
    CHECK(both.unbraked == 5ms);
  }
}

TEST_CASE("a bound held where there were jobs and none was longer") {
  CHECK(servers::verdict(0, 0ms, 1ms) == std::string("no jobs"));
  CHECK(servers::verdict(1, 1ms, 1ms) == std::string("held"));
  CHECK(servers::verdict(1, 1ms + 1ns, 1ms) == std::string("EXCEEDED"));
}
