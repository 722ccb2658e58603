#include "orb/poa/servant.h"

#include <mutex>

#include "orb/base/minor.h"
#include "orb/core/exception.h"
#include "orb/poa/poa.h"

namespace corelane::poa {
namespace {
std::mutex homes_mutex;  // for all servants: locked only in activation, deactivation and _this()
}  // namespace

core::ObjectReference<Poa> Servant::_default_POA() {
  const auto orb = core::Orb::first_of_process();
  if (!orb) core::raise(Error{ErrorKind::bad_inv_order, Completion::no, minor::orb_destroyed});
  return core::narrow<Poa>(orb->resolve_initial_references("RootPOA"));
}

void Servant::_activated_in(std::weak_ptr<Poa> poa) {
  const std::lock_guard lock(homes_mutex);
  home_ = std::move(poa);
}

std::shared_ptr<core::Reference> Servant::_activated_reference() {
  std::shared_ptr<Poa> home;
  {
    const std::lock_guard lock(homes_mutex);
    home = home_.lock();
  }
  if (!home) home = _default_POA().shared();
  return home->servant_to_reference(ServantReference<Servant>(shared_self(*this)))->_reference();
}

}  // namespace corelane::poa
