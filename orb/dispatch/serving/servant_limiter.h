// ServantLimiter bounds how many servants of requests without a contract run in parallel (best_effort.concurrency). A
// thread that has read a request waits here until its servant may run. With an automatic limit, ServantMeter measures
// windows of time, and sched::ConcurrencyControl decides.
//
// A servant that waits in a nested call does not count meanwhile. It goes on without waiting for a permit again, or two
// servants that call each other would block each other. So for a moment more servants may run than the limit says.
// The order of arrival does not count: a running thread may take a free permit before a sleeping one. Otherwise each
// permit would be unused for as long as a wake-up takes.
//
// Threads: those that serve requests. Without a limit each function costs one comparison.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <optional>

#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/os/mutex.h"
#include "orb/sched/concurrency_control.h"

namespace corelane::dispatch {

// ServantMeter measures windows of time for an automatic limit. Idle time says nothing about a limit. So it discards a
// window in which no servant ran, and one that became too long because nothing happened at its end.
// Threads: one at a time. Pure: no clock, no allocation.
class ServantMeter {
 public:
  static constexpr Duration window = std::chrono::milliseconds{10};
  static constexpr Duration longest = 2 * window;

  // Begins the first window.
  void begin(Time now) noexcept { counted_ = now; }
  // Counts the time since the last call: `running` servants ran, and requests waited if `full`. Returns the window if
  // it ends now and is of use.
  std::optional<sched::ServantWindow> count(Time now, int running, bool full) noexcept;
  // A servant has ended.
  void end_servant() noexcept { ++window_.ended; }

 private:
  Time counted_{};  // the time until then is in the window
  sched::ServantWindow window_{};
};

class ServantLimiter {
 public:
  // `threads`: more servants than these never run.
  ServantLimiter(const sched::ServantLimit& limit, int threads);

  // Returns whether there is a limit. Constant.
  bool is_on() const noexcept { return is_on_; }
  // Waits until a servant may run, or until lift().
  void enter() noexcept {
    if (is_on_) take_permit();
  }
  // Does the same if it need not wait. Returns false if it would wait.
  bool try_enter() noexcept { return !is_on_ || take_free_permit(); }
  void leave() noexcept {
    if (is_on_) return_permit();
  }
  // A servant goes on after a nested call. Does not wait.
  void come_back() noexcept {
    if (is_on_) take_permit_at_once();
  }
  // From now on nothing waits.
  void lift() noexcept;

  // Returns how many servants may run in parallel now; 0: no limit. For reports.
  int limit() const noexcept;
  // Returns how many threads wait. For tests.
  int waiting() const noexcept;

 private:
  void take_permit() noexcept;
  bool take_free_permit() noexcept;
  void return_permit() noexcept;
  void take_permit_at_once() noexcept;
  bool is_full() const noexcept CORELANE_REQUIRES(mutex_) { return running_ >= limit_ && !is_lifted_; }
  // Counts the time since the last change, and lets the control decide if a window ends. For an automatic limit only.
  void count_time() noexcept CORELANE_REQUIRES(mutex_);

  const bool is_on_;

  mutable os::Mutex mutex_;
  std::condition_variable_any permit_;
  std::optional<sched::ConcurrencyControl> control_ CORELANE_GUARDED_BY(mutex_);  // nothing: the limit is fixed
  int limit_ CORELANE_GUARDED_BY(mutex_);
  int running_ CORELANE_GUARDED_BY(mutex_) = 0;
  int waiting_ CORELANE_GUARDED_BY(mutex_) = 0;
  int woken_ CORELANE_GUARDED_BY(mutex_) = 0;  // waiting threads that were woken and have not yet checked for a permit
  bool is_lifted_ CORELANE_GUARDED_BY(mutex_) = false;
  ServantMeter meter_ CORELANE_GUARDED_BY(mutex_){};  // of an automatic limit
};

}  // namespace corelane::dispatch
