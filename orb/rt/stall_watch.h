// StallWatch: finds the gaps that no job sees because none was running: a thread on each core that wakes a thousand
// times a second at the highest priority and notes how late it was. Nothing of the program runs above it, so lateness
// beyond a usual wake-up is the host's or the kernel's.
//
// Cost: a few microseconds per millisecond and core, to be charged as platform load.
#pragma once

#include <atomic>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/os/thread.h"
#include "orb/rt/gap_log.h"

namespace corelane::rt {

class StallWatch {
 public:
  // A usual wake-up on virtual machines takes up to some tens of microseconds; only what is later is noted.
  static constexpr Duration usual_wakeup = std::chrono::microseconds{150};
  static constexpr Duration interval = std::chrono::milliseconds{1};
  static constexpr int priority = 90;

  // Watches `cores` until destroyed; `log` outlives it. Without the privilege for SCHED_FIFO its lateness would prove
  // nothing, so it then watches nothing: watching() tells.
  StallWatch(const std::vector<CoreId>& cores, GapLog& log);
  ~StallWatch();

  bool watching() const noexcept { return !threads_.empty(); }

 private:
  void watch(CoreId core) noexcept;

  GapLog& log_;
  std::atomic<bool> stop_{false};
  std::vector<os::Thread> threads_;
};

}  // namespace corelane::rt
