// Limits the spinning of real-time threads. Under SCHED_FIFO, no thread of lower priority gets the core of a spinning
// thread. So a spinner leaves 5 % of the time idle; otherwise the kernel takes 50 ms of each second from it. A spinner
// also does not spin for an event that only its own core can produce.
//
// Thread: the spinner. IdleDebt and may_spin() are values, without clock or system call.
#pragma once

#include <algorithm>
#include <chrono>

#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace corelane::os {

// IdleDebt is the rest that a thread owes for being busy: 1 part for 19, taken in pieces of at least `least`.
class IdleDebt {
 public:
  static constexpr Duration least = std::chrono::microseconds{500};
  static constexpr Duration most = 2 * least;  // the debt is capped, to avoid one long pause

  // Records that the thread was busy since the last call of either function, as far as is known.
  void busy_until(Time now) noexcept {
    if (last_ != Time{} && now > last_) debt_ = std::min(debt_ + (now - last_), parts * most);
    last_ = now;
  }
  // Records that the thread slept since the last call of either function.
  void rested_until(Time now) noexcept {
    debt_ = std::max(debt_ - parts * (now - last_), Duration::zero());
    last_ = now;
  }

  bool must_rest() const noexcept { return debt_ >= parts * least; }
  Duration owed() const noexcept { return debt_ / parts; }

 private:
  static constexpr int parts = 19;  // parts of work for one part of rest

  Time last_{};
  Duration debt_{};  // in units of work time
};

// How the calling thread is scheduled, as far as it matters for spinning. A real-time thread does not yield while it
// waits. One of SCHED_DEADLINE would lose the rest of its budget until the next period (sched(7)).
struct SpinnerClass {
  bool real_time = false;      // SCHED_FIFO, SCHED_RR or SCHED_DEADLINE
  CoreId only_core = no_core;  // the one core that it may run on; no_core: more than one
};
// Returns the class as it was at most 10 ms ago. One or two system calls if it must ask again.
const SpinnerClass& spinner_class(Time now) noexcept;
// Returns the debt of the calling thread.
IdleDebt& idle_debt() noexcept;

// Returns whether the thread may spin for an event. `peer`: the core that produces the event; no_core if unknown.
constexpr bool may_spin(const SpinnerClass& spinner, CoreId peer) noexcept {
  return !spinner.real_time || spinner.only_core == no_core || spinner.only_core != peer;
}

// Returns the only core that a process may use, according to its first thread. Returns no_core if there are several or
// it is unknown.
CoreId only_core_of(std::int32_t process) noexcept;

}  // namespace corelane::os
