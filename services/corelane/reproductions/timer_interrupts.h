// Counts the interrupts of firm timers in virtual time (Goel et al., OSDI 2002). It compares three ways: a periodic
// tick, one-shot timers, and one-shot timers with an overshoot and soft checks.
// Threads: pure functions. They allocate.
#pragma once

#include <cstdint>
#include <vector>

#include "orb/base/time.h"
#include "services/corelane/reproductions/experiment.h"

namespace corelane::tool::reproductions {

struct TimerSetup {
  std::vector<Duration> periods{};  // a timer for each; all begin at 0
  Duration length{};                // timers that expire until then fire
  Duration overshoot{};
  Duration between_checks{};  // from one soft check to the next; zero: there are none
};

struct TimerCounts {
  std::uint64_t fired = 0;
  std::uint64_t interrupts = 0;  // of the hard timer
  std::uint64_t hits = 0;        // soft checks that found an expired timer
  Duration latest{};             // the longest time from an expiry to its firing
};

// At one instant, a soft check comes before the hard timer.
TimerCounts count_interrupts(const TimerSetup& setup);

extern const Experiment timer_interrupts;

}  // namespace corelane::tool::reproductions
