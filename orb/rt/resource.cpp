#include "orb/rt/resource.h"

#include <utility>

namespace corelane::rt {

dispatch::JobControl* Resource::enter() noexcept {
  const dispatch::CurrentJob* const job = dispatch::current_job();
  return job != nullptr && job->control != nullptr && job->control->enter(id_) ? job->control : nullptr;
}

void Resource::lock() noexcept {
  dispatch::JobControl* const raised = enter();
  mutex_.lock();
  raised_ = raised;
}

bool Resource::try_lock() noexcept {
  dispatch::JobControl* const raised = enter();
  const bool locked = mutex_.try_lock();
  if (locked) raised_ = raised;
  if (!locked && raised != nullptr) raised->leave(id_);
  return locked;
}

void Resource::unlock() noexcept {
  dispatch::JobControl* const raised = std::exchange(raised_, nullptr);
  mutex_.unlock();
  if (raised != nullptr) raised->leave(id_);
}

}  // namespace corelane::rt
