// BudgetThread enforces the budgets of jobs and servers. It has a high-resolution timer for each core and each server,
// and one thread above all tasks and the manager that the timers wake. On a core's timer the pool checks how much its
// running job has used, and demotes or cancels a job that exceeds its contract. On a server's timer the server checks
// what its threads have used, or gets its budget back. It is no AgentThread, because the kernel's timers wake it.
//
// Threads: start() and stop() are called by the owner; the alarms are set under the locks of their pools and servers.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "orb/base/expected.h"
#include "orb/dispatch/budgets/aperiodic_server.h"
#include "orb/dispatch/cores/core_pool.h"
#include "orb/os/fd.h"
#include "orb/os/thread.h"

namespace corelane::dispatch {

class BudgetThread {
 public:
  // The pools and servers must outlive this object.
  explicit BudgetThread(std::span<const std::unique_ptr<CorePool>> pools, std::vector<AperiodicServer*> servers = {});
  ~BudgetThread();

  // Starts the thread, and gives the pools and servers their alarms. NO_RESOURCES no_thread or no_descriptor: the
  // system has no timer or thread left.
  Expected<void> start(os::ThreadOptions options);
  // Moves the thread to this SCHED_FIFO level. If the system refuses, its level stays as it is.
  void raise(int fifo_priority) noexcept { (void)thread_.set_priority(fifo_priority); }
  // Stops watching budgets; servers leave the classes of their threads as they are. Idempotent.
  void stop() noexcept;

 private:
  class Timer;
  void loop() noexcept;
  void check(std::size_t timer) noexcept;

  const std::span<const std::unique_ptr<CorePool>> pools_;
  const std::vector<AperiodicServer*> servers_;
  std::vector<std::unique_ptr<Timer>> timers_;  // by pool, then by server
  os::Fd stop_;
  os::Thread thread_;
};

}  // namespace corelane::dispatch
