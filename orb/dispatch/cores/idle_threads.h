// IdleThreads runs a thread on each core at the SCHED_FIFO level just below the tasks'. If that thread runs, none of
// the work that the analysis counts is ready on the core: neither a job whose request is still unread nor a server's
// work. Then early jobs may start (orb/sched/schedulers/core_scheduler.h), because each idle instant begins a new busy
// period.
//
// This holds only if the analysis counts nothing of other processes on the core. So the provider is asked just before
// whether another process has promised anything there. A process that makes a promise after that answer had no job
// there before it, so none is pending at the idle instant.
//
// Threads: start() and stop() are called by the owner; look() of its watches any.
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
