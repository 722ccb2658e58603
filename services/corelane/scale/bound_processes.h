// Runs a piece of work in several processes at once, each bound to a core of its own.
// Threads: one at a time. The caller has no real-time threads: it forks.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace corelane::tool {

// What all processes did together.
struct BoundRun {
  double throughput = 0;  // units of work per second: the sum over the processes, each by its own time
  double kernel_ns = 0;   // CPU time in the kernel for each unit, the processes' children included
};

// One unit of work. May throw std::system_error.
using UnitOfWork = std::function<void()>;

// Starts a process on each core. Each process calls `prepare`, and all begin together to repeat what it returned. After
// `time` each process ends its current unit and then itself. A process does at least one unit. The error says which
// process failed and why: a core that this process may not use, an exception, a signal. No process outlives the call.
Expected<BoundRun, std::string> run_bound(std::span<const CoreId> cores, Duration time,
                                          const std::function<UnitOfWork()>& prepare);

}  // namespace corelane::tool
