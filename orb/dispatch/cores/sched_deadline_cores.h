// SchedDeadlineCores chooses which deadline-scheduled cores run under the kernel's SCHED_DEADLINE
// (pool.deadline_policy = kernel). It changes the system for that, and its destructor undoes the changes.
//
// Threads: start-up code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orb/base/ids.h"
#include "orb/dispatch/executive.h"
#include "orb/os/machine/core_domain.h"
#include "orb/os/threads/core_isolation.h"

namespace corelane::dispatch {

class SchedDeadlineCores {
 public:
  SchedDeadlineCores() = default;
  // Takes all leased cores that options.deadline_cores names, or none. If none, the log says why, and these cores run
  // by SCHED_FIFO levels. Threads of the process that are not bound to the taken cores leave them.
  explicit SchedDeadlineCores(const ExecutiveOptions& options);

  const std::vector<CoreId>& cores() const noexcept { return cores_; }

 private:
  std::string fault_of(const std::vector<CoreId>& cores);

  std::optional<os::CoreDomain> domain_;  // set if the cpuset of the process had to be partitioned
  std::vector<CoreId> cores_;
  std::vector<os::CoreIsolation> isolations_;
};

}  // namespace corelane::dispatch
