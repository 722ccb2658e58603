#include "orb/poa/servant.h"

#include "orb/base/minor.h"
#include "orb/core/exception.h"
#include "orb/os/lock.h"
#include "orb/os/mutex.h"
#include "orb/poa/poa.h"

namespace corelane::poa {
namespace {
os::Mutex homes_mutex;  // for all servants: locked only in activation, deactivation and _this()
}  // namespace

core::ObjectReference<Poa> Servant::_default_POA() {
  const auto orb = core::Orb::first_of_process();
  if (!orb) core::raise(Error{ErrorKind::bad_inv_order, Completion::no, minor::orb_destroyed});
  return core::narrow<Poa>(orb->resolve_initial_references("RootPOA"));
}

void Servant::_activated_in(std::weak_ptr<Poa> poa) {
  const os::LockGuard lock(homes_mutex);
  homes_.push_back(std::move(poa));
}

// Forgets adapters that are gone, too.
void Servant::_deactivated_in(const std::weak_ptr<Poa>& poa) noexcept {
  const os::LockGuard lock(homes_mutex);
  std::erase_if(homes_, [&](const std::weak_ptr<Poa>& home) {
    return home.expired() || (!home.owner_before(poa) && !poa.owner_before(home));
  });
}

std::shared_ptr<core::Reference> Servant::_activated_reference() {
  std::shared_ptr<Poa> home;
  {
    const os::LockGuard lock(homes_mutex);
    for (auto at = homes_.rbegin(); at != homes_.rend() && !home; ++at) home = at->lock();  // bound: its adapters
  }
  if (!home) home = _default_POA().shared();
  return home->servant_to_reference(ServantReference<Servant>(shared_self(*this)))->_reference();
}

}  // namespace corelane::poa
