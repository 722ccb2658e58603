#include "orb/dispatch/manager/core_pools.h"

#include <algorithm>
#include <utility>

#include "orb/dispatch/best_effort/best_effort_servers.h"
#include "orb/dispatch/manager_options.h"
#include "orb/sched/servers/task_server.h"

namespace corelane::dispatch {

CorePools::CorePools(const ExecutiveOptions& options, std::span<const CoreLease> leases, NoteInbox& inbox,
                     Recorder& recorder)
    : natives_(task_natives(options)) {
  for (const CoreLease& lease : leases) {
    auto pool = std::make_unique<CorePool>(lease.core, options.max_tasks, inbox, recorder.scheduler(lease.core),
                                           options.overshoot);
    const sched::CoreOrder order = order_of(options, lease.core);
    if (options.charge_overruns) pool->charge_overruns();
    if (order == sched::CoreOrder::deadline) pool->use_deadlines(natives_);
    if (order == sched::CoreOrder::served) pool->use_servers();
    const auto index = static_cast<std::size_t>(lease.core.value);
    by_core_.resize(std::max(by_core_.size(), index + 1));
    by_core_[index] = pool.get();
    pools_.push_back(std::move(pool));
  }
}

ThreadPlacement CorePools::placement_on(const CorePool& pool, Priority priority,
                                        const Contract& contract) const noexcept {
  if (pool.order() == sched::CoreOrder::priority)
    return {.core = pool.core(), .native = sched::native_of(priority, natives_)};
  ThreadPlacement placement{.core = pool.core(), .native = natives_.lowest};
  if (pool.order() == sched::CoreOrder::deadline) return placement;
  const sched::Reservation server = sched::task_server_of(contract);
  placement.share = {.runtime = server.budget, .period = server.period};
  return placement;
}

int CorePools::native_ceiling(Priority ceiling) const noexcept {
  return ceiling == best_effort ? 0 : sched::native_of(ceiling, natives_);
}

}  // namespace corelane::dispatch
