// wait_for() waits once by a strategy, for any event that a thread can poll and sleep for. Parker and receive() of the
// transports use this loop.
//
// Thread: the waiter. Inline, because it is on the hot path of every call.
#pragma once

#include <sched.h>

#include <algorithm>

#include "orb/base/time.h"
#include "orb/os/clock.h"
#include "orb/os/wait/adaptive_spin.h"
#include "orb/os/wait/spin_guard.h"
#include "orb/os/wait/spin_limit.h"
#include "orb/os/wait/wait.h"

namespace corelane::os {

// Waits for the event until the deadline, and returns whether it came. The arguments:
//   bool poll()             returns whether the event is there; takes a moment, because it is called in a loop
//   bool sleep(Time until)  sleeps for the event until `until` at most, and returns whether it came; may return early
//   CoreId peer()           returns the core that produces the event, or no_core if unknown
//   learnt                  belongs to this place of waiting
// Polls at least once at the deadline.
//
// An adaptive wait spins only with a SpinPermit. An ordinary thread also yields its core every 4 us while it spins. It
// starts after 2 us, or at once if another thread ran during its last yield, and then yields all the time. If a yield
// takes long, another thread needs the core, and this one stops spinning.
//
// An ordinary thread that may not spin yields all the same, as long as other threads run meanwhile, at most eight
// times. That takes no core from anybody. On a busy machine the event has mostly come then, and neither this thread nor
// the one that produces the event needs a system call for the wake-up.
template <typename Poll, typename Sleep, typename Peer>
bool wait_for(Time deadline, WaitStrategy strategy, AdaptiveSpin& learnt, Poll&& poll, Sleep&& sleep, Peer&& peer) {
  if (strategy.mode == WaitMode::park) return ((deadline == never || deadline > now()) && sleep(deadline)) || poll();
  constexpr std::chrono::microseconds before_first_yield{2}, between_yields{4};
  constexpr int yields_without_spinning = 8;
  const bool adapts = strategy.mode == WaitMode::adaptive;
  if (adapts) strategy.spin = learnt.budget(wake_cost(), strategy.spin);
  const Time start = now();
  const SpinnerClass& spinner = spinner_class(start);
  const bool gives_way = adapts && !spinner.real_time;
  SpinPermit permit;
  const bool lost_core = gives_way && !spin_backoff().may_spin(start);
  if (lost_core) strategy.spin = Duration::zero();
  if (adapts && strategy.spin > Duration::zero() && !permit.take()) strategy.spin = Duration::zero();
  const bool bound = spinner.real_time && spinner.only_core != no_core;
  Time end = bound && !may_spin(spinner, peer()) ? start : spin_end(strategy, start, deadline);
  Time next_yield = !gives_way ? never : learnt.shares_core() ? start : start + before_first_yield;
  int yields_left = gives_way && !lost_core ? yields_without_spinning : 0;
  IdleDebt& debt = idle_debt();
  bool came = false, slept = false;
  Time at = start;
  Duration step{};  // how long the last poll took, with the reading of the clock
  // Bound: the deadline; each turn polls or sleeps.
  while (!came && at < deadline) {
    if (spinner.real_time) debt.busy_until(at);
    const bool rest = spinner.real_time && debt.must_rest();
    const bool spins = at < end && !rest;
    if (!spins) permit.give_back();
    if (spins || yields_left > 0) {
      const Time before = at;
      const bool yields = !spins || at >= next_yield;
      if (yields) {
        sched_yield();
        at = now();
        learnt.yielded(at - before);
        next_yield = learnt.shares_core() ? at : at + between_yields;
        if (!spins) yields_left = learnt.shares_core() ? yields_left - 1 : 0;
      }
      came = poll();
      // Once the event is there, its time need not be exact: this step took about as long as the one before. But an
      // ordinary thread must notice that it lost its core.
      const bool estimates = came && !gives_way && (step > Duration::zero() || !adapts);
      if (estimates) {
        at += step;
      } else if (!came || !yields) {
        at = now();
      }
      step = at - before;
      if (gives_way && at - before > (yields ? SpinBackoff::longest_yield : SpinBackoff::longest_step)) {
        spin_backoff().lost_core(at, at - before);
        end = at;
        yields_left = 0;
      }
      continue;
    }
    came = sleep(at < end ? std::min(deadline, at + debt.owed()) : deadline);
    slept = true;
    at = now();
    if (spinner.real_time) debt.rested_until(at);
  }
  if (adapts) learnt.waited(at - start - (slept && came ? wake_cost() : Duration::zero()), wake_cost());
  return came || poll();
}

}  // namespace corelane::os
