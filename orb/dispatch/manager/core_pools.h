// CorePools has the pool of each leased core, and says where the threads of tasks run there.
//
// Threads: any. Constant after construction; each pool has its own lock.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/ids.h"
#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/cores/core_pool.h"
#include "orb/dispatch/cores/task_worker.h"
#include "orb/dispatch/executive.h"
#include "orb/dispatch/queue/inbox.h"
#include "orb/dispatch/telemetry/recorder.h"
#include "orb/sched/priority.h"

namespace corelane::dispatch {

class CorePools {
 public:
  // `inbox` and `recorder` must outlive this object.
  CorePools(const ExecutiveOptions& options, std::span<const CoreLease> leases, NoteInbox& inbox, Recorder& recorder);

  // Returns the pools in the order of the leases.
  std::span<const std::unique_ptr<CorePool>> all() const noexcept { return pools_; }
  // Returns null if this process does not have the core.
  CorePool* of(CoreId core) const noexcept {
    const auto index = static_cast<std::size_t>(core.value);
    return index < by_core_.size() ? by_core_[index] : nullptr;
  }
  // Returns where a task's thread runs on the pool's core. On a core by deadlines, the pool raises the level with each
  // job. On a core under the kernel's own policy, the thread gets a share of it.
  ThreadPlacement placement_on(const CorePool& pool, Priority priority, const Contract& contract) const noexcept;
  // Returns the level of a job that has locked a resource with this ceiling; 0: no task uses the resource.
  int native_ceiling(Priority ceiling) const noexcept;

 private:
  const sched::NativeRange natives_;
  std::vector<std::unique_ptr<CorePool>> pools_;
  std::vector<CorePool*> by_core_;  // by the core's number; null: not leased
};

}  // namespace corelane::dispatch
