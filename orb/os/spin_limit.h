// What keeps adaptive waits from taking cores that other threads need: a number of spinners for the process, and a
// backoff for a thread that lost its core while it spun.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>

#include "orb/base/time.h"

namespace corelane::os {

// How many threads of this process may spin at one time, as it was at the first call. Thread: any but real-time ones:
// the first call reads files.
std::size_t spinner_limit() noexcept;
// The same by what is known. `allowed`: cores of the affinity mask, 1 or more; `online`: cores of the machine; `quota`:
// whole cores that a quota of CPU time is worth, 1 or more.
// One core is left for the threads that the spinners wait for. A process that is bound to one core may spin with one
// thread, since what it waits for may run on another core; a spinner yields, so this costs little where it does not.
std::size_t spinner_limit(std::size_t allowed, std::size_t online, std::optional<std::size_t> quota) noexcept;

// The right to spin: at most spinner_limit() threads of the process have it at one time.
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
