#include "orb/core/objects/poa_manager_state.h"

#include <utility>

#include "orb/os/lock.h"

namespace corelane::core {

bool PoaManagerState::hold(dispatch::JobPtr& job) {
  const os::LockGuard lock(mutex_);
  const dispatch::FairShares::Sharer sharer{.task = job->task, .peer = job->owner};
  if (entry_counter_.passage() != Passage::holding || !shares_.take(sharer)) return false;
  held_.push_back(std::move(job));
  return true;
}

bool PoaManagerState::wait_while_holding(Time deadline) {
  os::Parker parker;
  {
    const os::LockGuard lock(mutex_);
    if (entry_counter_.passage() != Passage::holding) return true;
    waiting_.push_back(&parker);
  }
  const bool woken = parker.park(deadline);
  const os::LockGuard lock(mutex_);  // the thread that wakes this one holds it, so the parker may be destroyed
  std::erase(waiting_, &parker);
  return woken;
}

bool PoaManagerState::take_unlogged() noexcept {
  const os::LockGuard lock(mutex_);
  return std::exchange(unlogged_, false) && entry_counter_.passage() == Passage::holding;
}

std::size_t PoaManagerState::waiting() {
  const os::LockGuard lock(mutex_);
  return shares_.taken() + waiting_.size();
}

bool PoaManagerState::change(Passage passage) {
  dispatch::JobList released;
  {
    const os::LockGuard lock(mutex_);
    if (entry_counter_.passage() == Passage::inactive) return passage == Passage::inactive;
    const bool held = entry_counter_.set(passage).before == Passage::holding;
    if (passage == Passage::holding) {
      unlogged_ = unlogged_ || !held;
    } else {
      released = std::move(held_);
      shares_.give_all_back();
      for (os::Parker* parker : waiting_) parker->unpark();  // bound: the callers of this process
    }
  }
  // Bound: the capacity.
  while (dispatch::JobPtr job = released.pop_front()) submit_(std::move(job));
  return true;
}

}  // namespace corelane::core
