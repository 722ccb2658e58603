// What keeps adaptive waits from taking cores that other threads need: a number of spinners for the process, and a
// backoff for a thread that lost its core while it spun.
#pragma once

#include <algorithm>
#include <chrono>

#include "orb/base/time.h"

namespace corelane::os {

// The right to spin: at most usable_cores() - 1 threads of the process have it at one time, so that one core is left
// for the threads that they wait for.
// Thread: one; other threads take and give back theirs at the same time.
class SpinPermit {
 public:
  SpinPermit() = default;
  SpinPermit(const SpinPermit&) = delete;
  SpinPermit& operator=(const SpinPermit&) = delete;
  ~SpinPermit() { give_back(); }

  // False: as many threads spin as may.
  bool take() noexcept;
  void give_back() noexcept;

 private:
  bool held_ = false;
};

// After a spinning thread lost its core to another thread it does not spin for a while: 1 ms at first, twice as long
// each time, 1 s at most. A spin that ended with its event halves the next pause.
// Thread: one. A value, without a clock.
class SpinBackoff {
 public:
  // A step of a spin takes less than this, unless another thread, or another machine's guest, ran on the core
  // meanwhile.
  static constexpr Duration longest_step = std::chrono::microseconds{50};

  bool may_spin(Time now) const noexcept { return now >= until_; }
  void lost_core(Time now) noexcept {
    until_ = now + pause_;
    pause_ = std::min<Duration>(2 * pause_, longest);
  }
  void succeeded() noexcept { pause_ = std::max<Duration>(pause_ / 2, shortest); }

 private:
  static constexpr std::chrono::milliseconds shortest{1};
  static constexpr std::chrono::seconds longest{1};

  Time until_{};
  Duration pause_ = shortest;
};
// Of the calling thread.
SpinBackoff& spin_backoff() noexcept;

}  // namespace corelane::os
