// KeptCore: a core that is for the threads that are bound to it. The process's other threads leave it, now and when
// they start, unless they may run nowhere else; when this ends they may run there again. What the application binds
// anew meanwhile is its own business.
//
// Threads: start-up code, none that is real-time (reads files). One for each core at a time in a process.
#pragma once

#include <sys/types.h>

#include <vector>

#include "orb/base/ids.h"
#include "orb/os/cpu_mask.h"

namespace corelane::os {

class KeptCore {
 public:
  explicit KeptCore(CoreId core);
  KeptCore(KeptCore&& other) noexcept;
  KeptCore& operator=(KeptCore&&) = delete;
  ~KeptCore();

 private:
  CoreId core_;               // no_core after a move
  std::vector<pid_t> moved_;  // threads that had to leave it
};

// Where a thread starts that asks for no core: where the process may run, without the cores that are kept. Any thread.
CpuMask ordinary_affinity() noexcept;
// The same in the child of a fork(), where nobody will unlock what was locked: then with the cores that are kept.
CpuMask ordinary_affinity_in_child() noexcept;

}  // namespace corelane::os
