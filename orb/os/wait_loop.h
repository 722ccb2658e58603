// wait_for(): one wait by a strategy, for whatever can be polled and slept for. The loop behind Parker and behind
// receive() of the transports.
//
// Thread: the waiter's. Inline, because it is the hot path of every call.
#pragma once

#include <algorithm>

#include "orb/base/time.h"
#include "orb/os/adaptive_spin.h"
#include "orb/os/clock.h"
#include "orb/os/spin_guard.h"
#include "orb/os/wait.h"

namespace corelane::os {

// bool poll(): whether the event is there; takes a moment, so that it is called in a loop. bool sleep(Time until):
// sleeps for the event at most so long; whether it came; may return early. CoreId peer(): the core that the event comes
// from, no_core when nobody knows. `learnt`: of this place of waiting. Polls at least once at the deadline.
template <typename Poll, typename Sleep, typename Peer>
bool wait_for(Time deadline, WaitStrategy strategy, AdaptiveSpin& learnt, Poll&& poll, Sleep&& sleep, Peer&& peer) {
  if (strategy.mode == WaitMode::park) return ((deadline == never || deadline > now()) && sleep(deadline)) || poll();
  if (strategy.mode == WaitMode::adaptive) strategy.spin = learnt.budget(wake_cost(), strategy.spin);
  const Time start = now();
  const SpinnerClass& spinner = spinner_class(start);
  const bool bound = spinner.real_time && spinner.only_core != no_core;
  const Time end = bound && !may_spin(spinner, peer()) ? start : spin_end(strategy, start, deadline);
  IdleDebt& debt = idle_debt();
  bool came = false, slept = false;
  Time at = start;
  // Bound: the deadline; each turn polls or sleeps.
  while (!came && at < deadline) {
    if (spinner.real_time) debt.busy_until(at);
    const bool rest = spinner.real_time && debt.must_rest();
    if (at < end && !rest) {
      came = poll();
      at = now();
      continue;
    }
    came = sleep(at < end ? std::min(deadline, at + debt.owed()) : deadline);
    slept = true;
    at = now();
    if (spinner.real_time) debt.rested_until(at);
  }
  if (strategy.mode == WaitMode::adaptive)
    learnt.waited(at - start - (slept && came ? wake_cost() : Duration::zero()), wake_cost());
  return came || poll();
}

}  // namespace corelane::os
