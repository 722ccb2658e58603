// Ceilings holds the priority ceilings of the resources that a process's tasks lock, as native levels. The Manager sets
// them (sched::Ceiling), and the task threads read them.
//
// Threads: the table is the manager's; a Ceiling may be read by any thread. Source: the immediate priority ceiling
// protocol, Sha, Rajkumar, Lehoczky (1990), which POSIX calls PTHREAD_PRIO_PROTECT. A POSIX mutex of that kind is not
// used, for two reasons. Its ceiling is fixed, whereas here tasks come and go. And the demotion of a job that holds it
// could not be delayed until the job unlocks it.
//
// The folder orb/dispatch/resources has the resources that tasks lock: their names and priority ceilings.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <unordered_map>

#include "orb/base/contract.h"
#include "orb/base/ids.h"

namespace corelane::dispatch {

// A thread that locks the resource runs at least at this SCHED_FIFO level; 0: locking does not raise it.
struct Ceiling {
  std::atomic<int> native{0};
};
// The ceilings of a contract's resources, in its order; null where the contract names no resource.
using CeilingsOfTask = std::array<std::shared_ptr<const Ceiling>, max_uses>;

class Ceilings {
 public:
  // Returns the ceilings of the contract's resources, and adds missing ones to the table. An entry stays while a task
  // keeps such a result. Allocates.
  CeilingsOfTask of(const Contract& contract);
  // Sets the resource's ceiling on `core`; 0: no task on that core uses it any more. All users of a resource are on one
  // core, so the level set for another core is replaced.
  void set(ResourceId resource, CoreId core, int native) noexcept;

 private:
  struct Entry {
    std::shared_ptr<Ceiling> ceiling = std::make_shared<Ceiling>();
    CoreId core = no_core;  // the core for which the level was set
    bool is_unused() const noexcept { return core == no_core && ceiling.use_count() == 1; }
  };
  std::unordered_map<ResourceId, Entry> entries_;
};

}  // namespace corelane::dispatch
