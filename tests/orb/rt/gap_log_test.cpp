#include "orb/rt/gap_log.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <optional>
#include <thread>

#include "orb/os/clock.h"
#include "orb/os/fd.h"
#include "orb/os/privileges.h"
#include "orb/os/thread.h"
#include "orb/rt/stall_watch.h"

namespace gap_log_test {

using namespace corelane;
using namespace corelane::rt;
using namespace std::chrono_literals;

namespace {

constexpr CoreId core{1};
constexpr Time start{1s};

Gap gap(Duration begin, Duration length) { return {.begin = start + begin, .length = length, .core = core}; }

// The time in which another program held a core, and how often that program was interrupted meanwhile.
struct Hold {
  Time begin, end;
  long interruptions;
};

long interruptions() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

constexpr Duration execution = 30ms, most_else = 3ms;

// Runs in the other program: executes on the core for a while, reports when, and ends.
[[noreturn]] void hold(CoreId held, int level, int told) {
  const sched_param above{.sched_priority = level};
  if (!os::bind_this_thread(held) || sched_setscheduler(0, SCHED_FIFO, &above) != 0) _exit(1);
  const long before = interruptions();
  Hold window{.begin = os::now(), .end = {}, .interruptions = 0};
  const Duration until = os::thread_cpu_time() + execution;
  while (os::thread_cpu_time() < until) continue;  // bound: the clock of its own execution
  window.end = os::now();
  window.interruptions = interruptions() - before;
  _exit(write(told, &window, sizeof window) == sizeof window ? 0 : 1);
}

// Starts the other program. Returns nothing if it could not run on the core.
std::optional<Hold> hold_by_another(CoreId held, int level) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const os::Fd hear(ends[0]), tell(ends[1]);
  const pid_t other = fork();
  if (other == 0) hold(held, level, tell.get());
  int status = -1;
  REQUIRE(waitpid(other, &status, 0) == other);
  Hold window{};
  if (status != 0 || read(hear.get(), &window, sizeof window) != sizeof window) return std::nullopt;
  return window;
}

// Keeps this thread on one core until destruction. While an ordinary thread runs there, no real-time thread may run.
class OnCore {
 public:
  explicit OnCore(CoreId one) {
    REQUIRE(sched_getaffinity(0, sizeof before_, &before_) == 0);
    bound = bool(os::bind_this_thread(one));
  }
  ~OnCore() { sched_setaffinity(0, sizeof before_, &before_); }

  bool bound = false;

 private:
  cpu_set_t before_{};
};

enum class Seen : std::uint8_t { yes, no, unclear };

// Returns how much of the time in which a core was held is covered by gaps of any cause.
Duration noted(const GapLog& log, const Hold& held) {
  Duration sum{};
  for (const Gap& gap : log.gaps())
    sum += std::max(std::min(gap.begin + gap.length, held.end) - std::max(gap.begin, held.begin), Duration::zero());
  return sum;
}

// Returns whether the program executed without a pause, and the gaps are about as long as that took.
bool is_clear(const GapLog& log, const Hold& held) {
  if (held.end - held.begin > execution + most_else) return false;
  for (const Gap& gap : log.gaps()) {
    const bool meets = gap.begin < held.end && gap.begin + gap.length > held.begin;
    if (meets && (gap.begin < held.begin - most_else || gap.begin + gap.length > held.end + most_else)) return false;
  }
  return true;
}

// Returns whether a watch notes that a program with a higher priority kept it from its core. `unclear`: the watch noted
// that, but something else also kept the program or the watch from the core. This may be another program's thread, or
// the kernel on its behalf. Then it is unclear how much of the gap counts as the machine's.
Seen seen_by_a_watch() {
  GapLog log(10'000);
  const CoreId here = os::current_core();
  const OnCore on_core(here);
  REQUIRE(on_core.bound);
  std::optional<StallWatch> watch;
  watch.emplace(std::vector{here}, log, 50);
  REQUIRE(watch->watching());
  const auto held = hold_by_another(here, 80);
  watch.reset();  // it has recorded the gap by now
  REQUIRE(held);
  constexpr Duration unseen = 2 * StallWatch::interval;  // at most, in each stretch
  if (noted(log, *held) < execution - (1 + held->interruptions) * unseen) return Seen::no;
  if (!is_clear(log, *held)) return Seen::unclear;
  return log.external_time(here, held->begin, held->end) >= execution - unseen ? Seen::yes : Seen::no;
}

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
  preempted.cause = GapCause::preempted;
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

TEST_CASE("time that another program's thread above this program takes from a core is an external gap") {
  if (!os::privileges().fifo) {
    std::puts("SKIPPED: needs the privilege for SCHED_FIFO");
    return;
  }
  constexpr int most_attempts = 50, most_missed = 3;  // the first attempts may fail if the kernel throttles
  int missed = 0;
  for (int attempt = 0; attempt < most_attempts && missed < most_missed; ++attempt) {
    const Seen seen = seen_by_a_watch();
    if (seen == Seen::yes) return;
    if (seen == Seen::no) ++missed;
  }
  CHECK(missed < most_missed);  // also if no attempt was clear, each one noted that the core was not available
}

TEST_CASE("a watch that was kept away while ordinary threads ran was throttled by the kernel") {
  struct Case {
    Duration now, seen;
    GapCause cause;
  };
  const Case c = GENERATE(Case{50ms, -1ms, GapCause::machine}, Case{50ms, 49ms, GapCause::throttled},
                          Case{50ms, 25ms, GapCause::machine},  // something above the watch ran later
                          Case{50ms, 25ms + 1ns, GapCause::throttled}, Case{50ms, 50ms, GapCause::machine},
                          Case{200us, StallWatch::usual_wakeup, GapCause::machine},  // within a usual wake-up
                          Case{200us, StallWatch::usual_wakeup + 1ns, GapCause::throttled});
  const Time due{10s};
  CHECK(StallWatch::cause_of(due, due + c.now, due + c.seen) == c.cause);
}

TEST_CASE("a throttled gap excuses nothing") {
  GapLog log(1);
  log.record({.begin = Time{1s}, .length = 50ms, .core = CoreId{1}, .cause = GapCause::throttled});
  CHECK(log.external_time(CoreId{1}, Time{1s}, Time{2s}) == 0ms);
}

TEST_CASE("a program that uses the highest level has nothing above it to watch from") {
  GapLog log(1);
  CHECK_FALSE(StallWatch({os::current_core()}, log, sched_get_priority_max(SCHED_FIFO)).watching());
}

}  // namespace gap_log_test
