#include "orb/dispatch/leases/core_watch.h"

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
                ": its tasks move to other cores; if these have no room, the least important tasks end");
} catch (const std::bad_alloc&) {  // the manager is told all the same
}

void tell_return(CoreId core, bool stays_lost) noexcept try {
  const std::string name = "core " + std::to_string(core.value);
  if (stays_lost)
    os::log::warn(name + " may be used again, but its share of SCHED_DEADLINE is gone: restart the server to use it");
  else
    os::log::info(name + " is back: tasks are admitted there again");
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
  for (Watched& each : cores_) any |= each.lost ? look_for_return(each, now) : look_for_loss(each, now);
  return any;
}

bool CoreWatch::misses_core() const noexcept {
  return std::any_of(cores_.begin(), cores_.end(),
                     [](const Watched& each) { return each.lost || each.gone_since != never; });
}

bool CoreWatch::look_for_loss(Watched& each, Time now) noexcept {
  const bool revoked = provider_.is_revoked(each.core);
  note_usable(each, now);
  const bool gone = each.gone_since != never && now - each.gone_since >= patience;  // not only for a moment
  if (!revoked && !gone) return false;
  each.lost = true;
  each.back_since = never;
  warn_of(each.core, revoked);
  inbox_.push(sched::CoreLost{.at = now, .core = each.core});
  return true;
}

bool CoreWatch::look_for_return(Watched& each, Time now) noexcept {
  const bool here = !provider_.is_revoked(each.core) && (!each.was_usable || usable_(each.core));
  each.back_since = here ? std::min(each.back_since, now) : never;
  if (!here || now - each.back_since < patience) return false;
  const bool stays_lost = std::find(final_.begin(), final_.end(), each.core) != final_.end();
  if (!std::exchange(each.told, stays_lost)) tell_return(each.core, stays_lost);
  if (stays_lost) return false;
  each.lost = false;
  each.gone_since = never;
  if (rebind_) rebind_();
  inbox_.push(sched::CoreReturned{.at = now, .core = each.core});
  return true;
}

}  // namespace corelane::dispatch
