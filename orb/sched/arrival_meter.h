// ArrivalMeter: tells which requests of a task its contract foresees, from the times at which they come. One job may
// run and one may wait, as in a Lane, so a request may come a period and the jitter before its time. What comes sooner
// is beyond the contract and is not counted. So in any window of length w at most w / T + 3 requests are foreseen
// where J < T.
//
// Threads: foresees() on any. No clock.
#pragma once

#include <algorithm>
#include <atomic>

#include "orb/base/contract.h"
#include "orb/base/time.h"

namespace corelane::sched {

class ArrivalMeter {
 public:
  ArrivalMeter() = default;  // foresees nothing
  explicit ArrivalMeter(const Contract& contract) noexcept
      : period_(contract.period), early_(contract.period + contract.jitter) {}
  // relaxed: the thread that copies it is the only one to use it then
  ArrivalMeter(const ArrivalMeter& other) noexcept
      : period_(other.period_), early_(other.early_), due_(other.due_.load(std::memory_order_relaxed)) {}
  ArrivalMeter& operator=(const ArrivalMeter& other) noexcept {
    period_ = other.period_;
    early_ = other.early_;
    // relaxed: as above
    due_.store(other.due_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    return *this;
  }

  // Whether the contract foresees a request that came at `at`; counts it then. Bound: the threads that ask at once.
  bool foresees(Time at) noexcept {
    if (period_ == Duration::zero()) return false;
    Time due = due_.load(std::memory_order_relaxed);  // relaxed: nothing but the count hangs on it
    do {
      if (at + early_ < due) return false;
      // relaxed: as above
    } while (!due_.compare_exchange_weak(due, std::max(due, at) + period_, std::memory_order_relaxed));
    return true;
  }

 private:
  Duration period_{};
  Duration early_{};
  std::atomic<Time> due_{Time{}};  // when the next request is due
};

}  // namespace corelane::sched
