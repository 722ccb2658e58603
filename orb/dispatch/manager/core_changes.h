// CoreChanges handles cores that are lost and cores that have returned, until the Manager knows of them. It also moves
// the calling manager's thread away from a lost core.
//
// The tasks of a lost core are placed like new tasks. The decision considers what other processes promise. These
// processes see our claim, and the ledger records the result. If the new placement cannot be recorded in the ledger in
// time, the tasks end. Otherwise they would run on capacity that another process may promise.
//
// Threads: the holder of the manager's lock. Bound: each list has at most one entry for each core, and its room is
// reserved.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/dispatch/admission/ledger_client.h"
#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/manager/core_pools.h"
#include "orb/dispatch/queue/back_off.h"
#include "orb/dispatch/telemetry/recorded_scheduler.h"
#include "orb/sched/commands.h"
#include "orb/sched/facts.h"

namespace corelane::dispatch {

class CoreChanges {
 public:
  // `real_time`: the manager's threads are bound to their core.
  CoreChanges(std::span<const CoreLease> leases, bool real_time, RecordedManager& manager, LedgerClient& promises,
              CorePools& pools);

  // Note what the core watch found. A loss and a return of the same core that was not handled cancel each other.
  void note(const sched::CoreLost& fact, Time now) noexcept;
  void note(const sched::CoreReturned& fact, Time now) noexcept;

  // Returns whether tasks are on a lost core. Until they have left it, no task is admitted.
  bool has_lost() const noexcept { return !lost_.empty(); }
  // Returns when there is something to do.
  Time wake_at() const noexcept {
    return std::min(lost_.empty() ? never : leaving_.at(), returned_.empty() ? never : returning_.at());
  }

  // Tells the Manager of a lost core, if it is time. `commands` is then what the Manager wants done; after that the
  // caller strands the pool of that core, which is returned. Nothing: nothing was done.
  std::optional<CoreId> leave_lost(Time now, std::span<const sched::Command>& commands) noexcept;
  // Uses returned cores again, if it is time. tell(fact) tells the Manager, and carries out what it commands. If
  // something of a task that had to end still runs on a core, the core is tried again later. Returns whether a core is
  // used again. Bound: the cores.
  template <typename Tell>
  bool take_back(Time now, Tell tell) noexcept {
    if (returned_.empty() || !returning_.is_due(now)) return false;
    const std::size_t taken = std::erase_if(returned_, [&](CoreId core) {
      if (!pools_.of(core)->reopen()) return false;
      tell(sched::CoreReturned{.at = now, .core = core});
      return true;
    });
    if (!returned_.empty()) returning_.failed(now);
    if (taken == 0) return false;
    settle_home();
    promises_.has_changed();
    return true;
  }
  // Returns whether the thread below the tasks has to be bound to its core again; true once for each such event.
  bool binds_below_again() noexcept { return std::exchange(below_binds_again_, false); }

 private:
  void settle_home() noexcept;
  void move_home() noexcept;

  // Constant.
  const std::span<const CoreLease> leases_;
  const bool real_time_;
  RecordedManager& manager_;
  LedgerClient& promises_;
  CorePools& pools_;

  std::vector<sched::CoreLost> lost_;  // lost cores whose tasks are still there
  std::vector<CoreId> returned_;       // cores that returned and are not used yet
  BackOff returning_{std::chrono::milliseconds{10}, std::chrono::seconds{1}};
  BackOff leaving_{LedgerClient::retry_period, LedgerClient::longest_retry};
  bool below_binds_again_ = false;
};

}  // namespace corelane::dispatch
