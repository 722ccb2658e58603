#include "orb/base/minor.h"
#include "orb/core/server/server.h"
#include "orb/poa/poa.h"

namespace corelane::poa {

PoaManager::PoaManager(std::weak_ptr<core::Orb> orb, std::shared_ptr<core::PoaManagerState> manager_state)
    : orb_(std::move(orb)), manager_state_(std::move(manager_state)) {}

void PoaManager::activate() {
  change(core::Passage::active, false);
  const auto orb = orb_.lock();
  if (!orb) return;
  (void)orb->executive();  // raises an error with a text if its settings are wrong
  orb->listen();
}

void PoaManager::hold_requests(bool wait) { change(core::Passage::holding, wait); }
void PoaManager::discard_requests(bool wait) { change(core::Passage::discarding, wait); }
void PoaManager::deactivate(bool, bool wait) { change(core::Passage::inactive, wait); }

PoaManager::State PoaManager::get_state() const {
  return static_cast<State>(manager_state_->entry_counter().passage());
}

void PoaManager::change(core::Passage passage, bool wait_for_completion) {
  // Inside a request, the wait would be for that request itself. CORBA 3.3 part 1, 15.3.3.2: BAD_INV_ORDER, OMG minor
  // 3.
  if (wait_for_completion && core::inside_servant())
    core::raise(Error{ErrorKind::bad_inv_order, Completion::no, minor::omg | 3});
  if (!manager_state_->change(passage)) throw AdapterInactive();
  if (wait_for_completion) manager_state_->entry_counter().wait_until_empty();
}

}  // namespace corelane::poa
