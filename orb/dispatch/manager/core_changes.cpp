#include "orb/dispatch/manager/core_changes.h"

#include "orb/dispatch/admission/admission_control.h"
#include "orb/os/thread.h"

namespace corelane::dispatch {

CoreChanges::CoreChanges(std::span<const CoreLease> leases, bool real_time, RecordedManager& manager,
                         LedgerClient& promises, CorePools& pools)
    : leases_(leases), real_time_(real_time), manager_(manager), promises_(promises), pools_(pools) {
  lost_.reserve(leases.size());
  returned_.reserve(leases.size());
}

void CoreChanges::note(const sched::CoreLost& fact, Time now) noexcept {
  if (std::erase(returned_, fact.core) > 0) return;  // it was not used again before
  if (lost_.empty()) leaving_.start(now);
  lost_.push_back({.at = now, .core = fact.core});
}

void CoreChanges::note(const sched::CoreReturned& fact, Time now) noexcept {
  if (std::erase_if(lost_, [&](const sched::CoreLost& lost) { return lost.core == fact.core; }) > 0) return;
  if (returned_.empty()) returning_.start(now);
  returned_.push_back(fact.core);
}

std::optional<CoreId> CoreChanges::leave_lost(Time now, std::span<const sched::Command>& commands) noexcept {
  if (lost_.empty() || !leaving_.is_due(now)) return std::nullopt;
  const sched::CoreLost lost = lost_.front();
  auto claimed = promises_.begin_leaving(lost.core, now);
  if (claimed) claimed = promises_.claim_all();
  if (!claimed && now - lost.at < AdmissionControl::patience) return leaving_.failed(now), std::nullopt;
  if (!claimed) promises_.close_all();
  lost_.erase(lost_.begin());
  leaving_.start(now);
  commands = manager_.decide(sched::CoreLost{.at = now, .core = lost.core});
  if (lost.core == promises_.home()) move_home();
  if (claimed) (void)promises_.commit();  // the claim stands until this is written
  promises_.has_changed();
  return lost.core;
}

// Puts the manager's two threads on a core that is there, and binds them to it: the kernel may have unbound them.
void CoreChanges::settle_home() noexcept {
  below_binds_again_ = true;
  const auto view = manager_.find(promises_.home());
  if (!view || view->lost) return move_home();
  if (real_time_) (void)os::bind_this_thread(promises_.home());
}

// Moves the calling thread to another core that is left. Its platform load counts there from now on.
void CoreChanges::move_home() noexcept {
  for (const CoreLease& lease : leases_) {
    const auto view = manager_.find(lease.core);
    if (!view || view->lost) continue;
    if (real_time_ && !os::bind_this_thread(lease.core)) continue;
    promises_.move_home(lease.core);
    return;
  }
}

}  // namespace corelane::dispatch
