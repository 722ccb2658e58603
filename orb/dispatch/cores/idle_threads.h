// IdleThreads runs a thread on each core at the SCHED_FIFO level just below the tasks'. While that thread runs, no work
// that the analysis counts is ready on the core: no job, not even one whose request is still unread, and no server's
// work. Then early jobs may start (orb/sched/schedulers/core_scheduler.h), because each idle instant begins a new busy
// period.
//
// This holds only if the analysis counts nothing of other processes on the core. So the thread first asks the provider
// whether another process has promised anything on the core. A process that promises something after that answer had no
// job there before. So none of its jobs is pending at the idle instant.
//
// Threads: the owner calls start() and stop(). Any thread calls look() of the watches.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "orb/base/expected.h"
#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/cores/core_pool.h"

namespace corelane::dispatch {

class IdleThreads {
 public:
  // `pools[i]` has the core `leases[i]`. All arguments must outlive this object.
  IdleThreads(std::span<const std::unique_ptr<CorePool>> pools, std::span<const CoreLease> leases,
              CoreProvider& provider);
  ~IdleThreads();

  struct Options {
    int native = 1;        // SCHED_FIFO level: below that of every task
    sched::Ppm share = 0;  // the part of a core that all jobs may use: its capacity minus the platform load
    std::size_t stack = 0;
  };
  // Starts the threads; from now on early jobs may start. NO_RESOURCES no_thread.
  Expected<void> start(const Options& options);
  // Stops the threads. From then on early jobs wait until they are eligible. Idempotent.
  void stop() noexcept;

 private:
  class Watcher;

  const std::span<const std::unique_ptr<CorePool>> pools_;
  std::vector<std::unique_ptr<Watcher>> watchers_;  // by pool
};

}  // namespace corelane::dispatch
