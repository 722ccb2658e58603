// IdleThreads: a thread for each core at the SCHED_FIFO level right below the tasks'. That it runs is the proof that
// nothing of the core is ready which the analysis counts: no job that some thread has yet to read, no server's work.
// Then early jobs may start (orb/sched/lane.h): each idle instant begins a new busy period.
//
// That holds as long as all that the analysis counts there is this process's, so the provider is asked right before
// whether somebody else has promised anything on the core. Who promises something after that answer has no job there
// before it, so none is pending at the idle instant.
//
// Threads: start() and stop() by whoever owns it; look() of its watches any.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "orb/base/expected.h"
#include "orb/dispatch/core_pool.h"
#include "orb/dispatch/core_provider.h"

namespace corelane::dispatch {

class IdleThreads {
 public:
  // `pools[i]` has the core `leases[i]`. All outlive it.
  IdleThreads(std::span<const std::unique_ptr<CorePool>> pools, std::span<const CoreLease> leases,
              CoreProvider& provider);
  ~IdleThreads();

  struct Options {
    int native = 1;        // SCHED_FIFO level: below that of every task
    sched::Ppm share = 0;  // of a core that jobs may use in all: its capacity less the platform's load
    std::size_t stack = 0;
  };
  // From here on early jobs start. NO_RESOURCES no_thread.
  Expected<void> start(const Options& options);
  // After it early jobs wait for their time. Idempotent.
  void stop() noexcept;

 private:
  class Watcher;

  const std::span<const std::unique_ptr<CorePool>> pools_;
  std::vector<std::unique_ptr<Watcher>> watchers_;  // by pool
};

}  // namespace corelane::dispatch
