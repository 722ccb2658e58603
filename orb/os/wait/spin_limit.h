// Keeps adaptive waits from taking cores that other threads need. It has a limit of spinning threads for the process,
// and a backoff for a thread that lost its core while it spun.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>

#include "orb/base/time.h"

namespace corelane::os {

// Returns how many threads of this process may spin at the same time, as computed at the first call. Thread: any but
// real-time ones: the first call reads files.
std::size_t spinner_limit() noexcept;
// Computes the same from explicit inputs. `allowed` is the number of cores in the affinity mask, 1 or more. `online` is
// that of the machine. `quota` is the number of whole cores to which a quota of CPU time corresponds, 1 or more. One
// core is left for the threads that the spinners wait for. If the process is bound to one core, one thread may spin,
// because what it waits for may run on another core. A spinner yields, so this costs little if it does not.
std::size_t spinner_limit(std::size_t allowed, std::size_t online, std::optional<std::size_t> quota) noexcept;

// SpinPermit is the right to spin: at most spinner_limit() threads of the process hold it at the same time.
// Thread: one; other threads may take and return their permits at the same time.
class SpinPermit {
 public:
  SpinPermit() = default;
  SpinPermit(const SpinPermit&) = delete;
  SpinPermit& operator=(const SpinPermit&) = delete;
  ~SpinPermit() { give_back(); }

  // Takes the permit, if it is not yet held. Returns false if the limit is reached.
  bool take() noexcept;
  void give_back() noexcept;

 private:
  bool held_ = false;
};

// SpinBackoff makes a thread pause its spinning after it has lost its core to another thread. The pause is 100 times
// what the loss took, at least 1 ms and at most 1 s. So beside a thread that never sleeps, spinning costs a hundredth
// of the time: Linux gives such a thread the core for about 3 ms each time. Otherwise the waiter sleeps, and Linux
// prefers what wakes up.
// Thread: one. A value, without a clock.
class SpinBackoff {
 public:
  // A step of a spin takes less than this, unless another thread or virtual machine ran on the core meanwhile.
  static constexpr Duration longest_step = std::chrono::microseconds{50};
  // The same for a step in which the thread yields. Threads that answer each other give the core back within this time,
  // also if there are dozens of them. One that computes keeps it for milliseconds.
  static constexpr Duration longest_yield = std::chrono::microseconds{500};

  bool may_spin(Time now) const noexcept { return now >= until_; }
  // Records that the thread got its core back at `now`, after `lost`.
  void lost_core(Time now, Duration lost) noexcept {
    until_ = now + std::clamp<Duration>(100 * std::min<Duration>(lost, longest), shortest, longest);
  }

 private:
  static constexpr std::chrono::milliseconds shortest{1};
  static constexpr std::chrono::seconds longest{1};

  Time until_{};
};
// Returns the backoff of the calling thread.
SpinBackoff& spin_backoff() noexcept;

}  // namespace corelane::os
