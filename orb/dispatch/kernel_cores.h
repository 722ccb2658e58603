// KernelCores: which of the cores by deadlines run under the kernel's own SCHED_DEADLINE (pool.deadline_policy =
// kernel), and what was done to the system for that; it is undone with this.
//
// Threads: start-up code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orb/base/ids.h"
#include "orb/dispatch/executive.h"
#include "orb/os/core_domain.h"
#include "orb/os/kept_core.h"

namespace corelane::dispatch {

class KernelCores {
 public:
  KernelCores() = default;
  // Of the leased cores that options.deadline_cores names: all of them, or none, and then the log says why: they run by
  // levels. Those that are had are left by the process's threads that are not bound to them.
  explicit KernelCores(const ExecutiveOptions& options);

  const std::vector<CoreId>& cores() const noexcept { return cores_; }

 private:
  std::string fault_of(const std::vector<CoreId>& cores);

  std::optional<os::CoreDomain> domain_;  // where the cpuset of the process had to be parted
  std::vector<CoreId> cores_;
  std::vector<os::KeptCore> kept_;
};

}  // namespace corelane::dispatch
