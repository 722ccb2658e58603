// BudgetThread: one high-resolution timer for each core and for each server, and the thread above all tasks, and above
// the manager, that they wake: it has the pool look how much its running job has used, and the pool demotes or cancels
// what uses more than its contract says; and it has the server look what its threads have used, or that its budget is
// back.
//
// Threads: start() and stop() by whoever owns it; the alarms under the locks of their pools and servers.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "orb/base/expected.h"
#include "orb/dispatch/core_pool.h"
#include "orb/dispatch/thread_server.h"
#include "orb/os/fd.h"
#include "orb/os/thread.h"

namespace corelane::dispatch {

class BudgetThread {
 public:
  // They outlive it.
  explicit BudgetThread(std::span<const std::unique_ptr<CorePool>> pools, std::vector<ThreadServer*> servers = {});
  ~BudgetThread();

  // From here on pools and servers have their alarms. NO_RESOURCES no_thread or no_descriptor: the system has no
  // timer or thread left.
  Expected<void> start(os::ThreadOptions options);
  // The thread runs at this SCHED_FIFO level from now on, or as before where the system refuses.
  void raise(int fifo_priority) noexcept { (void)thread_.set_priority(fifo_priority); }
  // After it no budget is watched, and servers leave their threads as they are. Idempotent.
  void stop() noexcept;

 private:
  class Timer;
  void loop() noexcept;
  void check(std::size_t timer) noexcept;

  const std::span<const std::unique_ptr<CorePool>> pools_;
  const std::vector<ThreadServer*> servers_;
  std::vector<std::unique_ptr<Timer>> timers_;  // by pool, then by server
  os::Fd stop_;
  os::Thread thread_;
};

}  // namespace corelane::dispatch
