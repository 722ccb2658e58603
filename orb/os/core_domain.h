// CoreDomain: a core that is alone in its root domain, so that threads that are bound to it may run under
// SCHED_DEADLINE (deadline_class.h).
//
// Under cgroup v1 root domains follow from which cpusets balance their load, not from who is in them. So the process's
// own cpuset is parted: it stops to balance, and gets a child for the core and one for its other cores, which do, and
// in which nobody ever is. All threads stay where they are and are bound to a core as everywhere else, by one call.
// That needs a cpuset of the process's own, as corelane-reserved gives: exclusive, below ones that do not balance.
// Under cgroup v2 a partition takes its cores away from everybody who is not in it, so a thread would have to be moved
// into one, by a write that may sleep, whenever its task comes; there is no domain to be had there.
//
// Threads: one at a time, no real-time ones: reads and writes files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/ids.h"

namespace corelane::os {

class CoreDomain {
 public:
  // Parts the cpuset of this process: each of these cores gets a domain of its own, the others are one together. What
  // prevents it, and how to mend it, as a sentence part. `cgroups` and `mounts` are files of the kernel, or like them.
  static Expected<CoreDomain, std::string> part(std::span<const CoreId> cores,
                                                const std::string& cgroups = "/proc/self/cgroup",
                                                const std::string& mounts = "/proc/self/mountinfo");

  CoreDomain(CoreDomain&& other) noexcept = default;
  CoreDomain& operator=(CoreDomain&& other) noexcept;
  // The cpuset balances again, unless somebody else has parted it before. Threads under SCHED_DEADLINE have ended.
  ~CoreDomain() { undo(); }

 private:
  CoreDomain() = default;
  Expected<void, std::string> make(const std::string& name, const std::string& cores, const std::string& nodes);
  void undo() noexcept;

  std::string folder_;             // of the process's cpuset; "": nothing is to be undone
  std::vector<std::string> made_;  // children
};

}  // namespace corelane::os
