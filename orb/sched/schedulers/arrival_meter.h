// ArrivalMeter decides from the arrival times which requests of a task its contract allows. One job may run and one may
// wait, as in a CoreScheduler. So a request may come up to a period plus the jitter before its nominal time. An earlier
// request exceeds the contract and is not counted. Therefore a window of length w contains at most w / T + 3 allowed
// requests if J < T.
//
// Threads: any thread may call foresees(). The class reads no clock.
#pragma once

#include <algorithm>
#include <atomic>

#include "orb/base/contract.h"
#include "orb/base/time.h"

namespace corelane::sched {

class ArrivalMeter {
 public:
  ArrivalMeter() = default;  // allows no request
  explicit ArrivalMeter(const Contract& contract) noexcept
      : period_(contract.period), early_(contract.period + contract.jitter) {}
  // relaxed: only the thread that copies the object uses it at that time
  ArrivalMeter(const ArrivalMeter& other) noexcept
      : period_(other.period_), early_(other.early_), due_(other.due_.load(std::memory_order_relaxed)) {}
  ArrivalMeter& operator=(const ArrivalMeter& other) noexcept {
    period_ = other.period_;
    early_ = other.early_;
    // relaxed: as above
    due_.store(other.due_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    return *this;
  }

  // Returns whether the contract allows a request that came at `at`, and counts it if so. Bound: the number of threads
  // that call it at the same time.
  bool foresees(Time at) noexcept {
    if (period_ == Duration::zero()) return false;
    Time due = due_.load(std::memory_order_relaxed);  // relaxed: no other data depends on this value
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
