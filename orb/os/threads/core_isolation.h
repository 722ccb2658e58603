// CoreIsolation keeps a core free for the threads that are bound to it. The process's other threads leave the core, now
// and when they start, unless they may run nowhere else. When the CoreIsolation ends, they may run there again. It does
// not track what the application binds meanwhile.
//
// Threads: start-up code, not real-time (reads files). At most one CoreIsolation for each core of a process at a time.
#pragma once

#include <sys/types.h>

#include <vector>

#include "orb/base/ids.h"
#include "orb/os/machine/cpu_mask.h"

namespace corelane::os {

class CoreIsolation {
 public:
  explicit CoreIsolation(CoreId core);
  CoreIsolation(CoreIsolation&& other) noexcept;
  CoreIsolation& operator=(CoreIsolation&&) = delete;
  ~CoreIsolation();

 private:
  CoreId core_;               // no_core after a move
  std::vector<pid_t> moved_;  // threads that had to leave it
};

// Returns the cores for a thread that asks for none: the process's cores without the kept cores. Any thread.
CpuMask ordinary_affinity() noexcept;
// Returns the same in the child of a fork(). If the lock was held at the fork, no thread will release it; then the kept
// cores are included.
CpuMask ordinary_affinity_in_child() noexcept;

}  // namespace corelane::os
