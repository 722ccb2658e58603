// SpinGuard: what a real-time thread must not do while it spins. Under SCHED_FIFO nobody of lower priority gets its
// core, so it leaves 5 % of the time idle (the kernel takes 50 ms of each second from a thread that does not), and it
// does not spin for an event that only its own core can bring about.
//
// Thread: the spinner's. IdleDebt and may_spin() are values, without clock or system call.
#pragma once

#include <algorithm>
#include <chrono>

#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace corelane::os {

// The rest that a thread owes for being busy: 1 part for 19, paid in pieces of at least `least`.
class IdleDebt {
 public:
  static constexpr Duration least = std::chrono::microseconds{500};
  static constexpr Duration most = 2 * least;  // what came before is not paid later: it would be a long pause

  // The thread was busy, as far as anybody knows, since the last call of either function.
  void busy_until(Time now) noexcept {
    if (last_ != Time{} && now > last_) debt_ = std::min(debt_ + (now - last_), parts * most);
    last_ = now;
  }
  // It slept.
  void rested_until(Time now) noexcept {
    debt_ = std::max(debt_ - parts * (now - last_), Duration::zero());
    last_ = now;
  }

  bool must_rest() const noexcept { return debt_ >= parts * least; }
  Duration owed() const noexcept { return debt_ / parts; }

 private:
  static constexpr int parts = 19;  // of work for one of rest

  Time last_{};
  Duration debt_{};  // in time of work
};

// How the calling thread is scheduled, as far as spinning is concerned.
struct SpinnerClass {
  bool real_time = false;      // SCHED_FIFO or SCHED_RR
  CoreId only_core = no_core;  // the one core that it may run on; no_core: more than one
};
// As it was at most 10 ms ago. A system call or two when that is longer.
const SpinnerClass& spinner_class(Time now) noexcept;
// Of the calling thread.
IdleDebt& idle_debt() noexcept;

// `peer`: the core that brings about the event, no_core when nobody knows.
constexpr bool may_spin(const SpinnerClass& spinner, CoreId peer) noexcept {
  return !spinner.real_time || spinner.only_core == no_core || spinner.only_core != peer;
}

// The one core that a process may run on, by its first thread; no_core when there are more, or nobody knows.
CoreId only_core_of(std::int32_t process) noexcept;

}  // namespace corelane::os
