// CoreDomain gives a core a root domain of its own, so that threads bound to the core may use SCHED_DEADLINE
// (deadline_class.h).
//
// Under cgroup v1, root domains depend on which cpusets balance their load, not on the processes in them. So CoreDomain
// splits the process's own cpuset. It stops balancing there, and adds a child cpuset for each core and one for the
// other cores. The children balance their load and never contain a process. All threads stay in the process's cpuset.
// As everywhere else, one call binds a thread to a core.
//
// The process needs a cpuset of its own, which corelane-reserved can make. It must be exclusive, and no cpuset above it
// may balance its load.
//
// Under cgroup v2 CoreDomain does not work. A partition takes its cores away from all threads outside it. So each
// thread would have to move into the partition whenever its task arrives, by a write that may sleep.
//
// Threads: one at a time, no real-time ones: it reads and writes files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/ids.h"

namespace corelane::os {

class CoreDomain {
 public:
  // Splits the cpuset of this process: each of `cores` gets its own domain, and the other cores share one. An error is
  // a clause that says what prevents the split and how to fix it. `cgroups` and `mounts` name the kernel's files; tests
  // pass others.
  static Expected<CoreDomain, std::string> part(std::span<const CoreId> cores,
                                                const std::string& cgroups = "/proc/self/cgroup",
                                                const std::string& mounts = "/proc/self/mountinfo");

  CoreDomain(CoreDomain&& other) noexcept = default;
  CoreDomain& operator=(CoreDomain&& other) noexcept;
  // Lets the cpuset balance its load again, unless it was already split before. Threads under SCHED_DEADLINE must have
  // ended.
  ~CoreDomain() { undo(); }

 private:
  CoreDomain() = default;
  Expected<void, std::string> make(const std::string& name, const std::string& cores, const std::string& nodes);
  void undo() noexcept;

  std::string folder_;             // of the process's cpuset; "": nothing to undo
  std::vector<std::string> made_;  // children
};

}  // namespace corelane::os
