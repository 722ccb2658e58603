#include "orb/dispatch/core_watch.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "orb/os/log.h"

namespace corelane::dispatch {

namespace {

void warn_of(CoreId core, bool revoked) noexcept try {
  os::log::warn("core " + std::to_string(core.value) +
                (revoked ? " was taken back"
                         : " is unplugged, or this process may no longer run there (its cpuset or its affinity mask: "
                           "taskset, corelane-reserved)") +
                ": its tasks move, the least important leave where there is no room");
} catch (const std::bad_alloc&) {  // the manager is told all the same
}

}  // namespace

CoreWatch::CoreWatch(const std::vector<CoreLease>& leases, const CoreProvider& provider, NoteInbox& inbox,
                     Usable usable)
    : provider_(provider), inbox_(inbox), usable_(usable) {
  for (const CoreLease& lease : leases) cores_.push_back({.core = lease.core});
}

void CoreWatch::note_usable(Watched& each, Time now) const noexcept {
  const bool gone = each.was_usable && !usable_(each.core);
  each.gone_since = gone ? std::min(each.gone_since, now) : never;
}

bool CoreWatch::step(Time now) noexcept {
  if (!std::exchange(began_, true))
    for (Watched& each : cores_) each.was_usable = usable_(each.core);
  bool any = false;
  for (Watched& each : cores_) {
    if (each.lost) continue;
    const bool revoked = provider_.is_revoked(each.core);
    note_usable(each, now);
    const bool gone = each.gone_since != never && now - each.gone_since >= patience;  // no passing thing
    if (!revoked && !gone) continue;
    each.lost = any = true;
    warn_of(each.core, revoked);
    inbox_.push(sched::CoreLost{.at = now, .core = each.core});
  }
  return any;
}

}  // namespace corelane::dispatch
