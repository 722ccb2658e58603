// LoadThreads keeps one core busy while it lives, in one of several ways. Ordinary threads do that, so a real-time
// thread may take the core from them. One of them looks for gaps: times in which the core ran no thread.
//
// Threads: up to two, bound to the core. The owner's thread starts and stops them.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "orb/base/ids.h"
#include "orb/eval/host_card/host_card.h"
#include "orb/os/fd.h"
#include "orb/os/thread.h"
#include "orb/rt/gap_log.h"

namespace corelane::tool {

class LoadThreads {
 public:
  // `gaps` outlives the object. The load `idle` starts nothing, and sees no gaps.
  LoadThreads(eval::WakeLoad load, CoreId core, rt::GapLog& gaps);
  LoadThreads(const LoadThreads&) = delete;
  LoadThreads& operator=(const LoadThreads&) = delete;
  ~LoadThreads();

  // Returns why the core does not have this load; "" if it has.
  const std::string& fault() const noexcept { return fault_; }

 private:
  template <typename Turn>
  void repeat(CoreId core, Turn turn);

  std::atomic<bool> stop_{false};
  std::string fault_;
  os::Fd file_;  // of the load io; it has no name
  std::vector<os::Thread> threads_;
};

}  // namespace corelane::tool
