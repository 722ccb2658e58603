// BudgetThread: one high-resolution timer for each core, and the thread above all tasks that they wake: it has the pool
// look how much its running job has used, and the pool demotes or cancels what uses more than its contract says.
//
// Threads: start() and stop() by whoever owns it; the alarms under their pools' locks.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "orb/base/expected.h"
#include "orb/dispatch/core_pool.h"
#include "orb/os/fd.h"
#include "orb/os/thread.h"

namespace corelane::dispatch {

class BudgetThread {
 public:
  // The pools outlive it.
  explicit BudgetThread(std::span<const std::unique_ptr<CorePool>> pools);
  ~BudgetThread();

  // From here on the pools have their alarms. NO_RESOURCES no_thread: the system has no timer or thread left.
  Expected<void> start(os::ThreadOptions options);
  // After it no budget is watched. Idempotent.
  void stop() noexcept;

 private:
  class Timer;
  void loop() noexcept;

  const std::span<const std::unique_ptr<CorePool>> pools_;
  std::vector<std::unique_ptr<Timer>> timers_;  // by pool
  os::Fd stop_;
  os::Thread thread_;
};

}  // namespace corelane::dispatch
