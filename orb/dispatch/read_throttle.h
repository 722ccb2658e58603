// ReadThrottle: how much a task's thread may read without getting a job from it. The thread reads at the task's
// priority, so a client that sends bytes which are no job, or more jobs than its contract allows, would take the core
// from the tasks below. In each period only a few such reads are free; then they may use no more execution time than
// the contract's budget, and after that nothing is read until the period is over: what the client sends stays in its
// socket.
//
// Threads: the task's own.
#pragma once

#include "orb/base/contract.h"
#include "orb/base/time.h"
#include "orb/dispatch/clock.h"

namespace corelane::dispatch {

class ReadThrottle {
 public:
  static constexpr int free_reads = 4;

  ReadThrottle(const Contract& contract, const Clock& clock)
      : period_(contract.period), budget_(contract.budget), clock_(clock) {}

  // After a read without a job that the lane took.
  void charge(Time now) noexcept {
    if (now >= period_end_) {
      period_end_ = now + period_;
      reads_ = 0;
      used_before_ = clock_.cpu_time();
    }
    if (++reads_ > free_reads && clock_.cpu_time() - used_before_ > budget_) shut_until_ = period_end_;
  }
  // Nothing is to be read before then.
  Time opens_at() const noexcept { return shut_until_; }

 private:
  // Constant.
  const Duration period_, budget_;
  const Clock clock_;

  Time period_end_{};
  int reads_ = 0;
  Duration used_before_{};  // of the thread, when the period began
  Time shut_until_{};
};

}  // namespace corelane::dispatch
