#include "orb/rt/resource.h"

#include <utility>

#include "orb/dispatch/resources/resource_names.h"

namespace corelane::rt {

Resource::Resource(std::string_view name) noexcept : id_(resource_named(name)) { dispatch::remember_resource(name); }

dispatch::JobControl* Resource::enter() noexcept {
  const dispatch::CurrentJob* const job = dispatch::current_job();
  return job != nullptr && job->control != nullptr && job->control->enter(id_) ? job->control : nullptr;
}

// The next three are not analyzed: the mutex stays locked between them.
void Resource::lock() noexcept CORELANE_NO_THREAD_SAFETY_ANALYSIS {
  dispatch::JobControl* const raised = enter();
  mutex_.lock();
  raised_ = raised;
}

bool Resource::try_lock() noexcept CORELANE_NO_THREAD_SAFETY_ANALYSIS {
  dispatch::JobControl* const raised = enter();
  const bool locked = mutex_.try_lock();
  if (locked) raised_ = raised;
  if (!locked && raised != nullptr) raised->leave(id_);
  return locked;
}

void Resource::unlock() noexcept CORELANE_NO_THREAD_SAFETY_ANALYSIS {
  dispatch::JobControl* const raised = std::exchange(raised_, nullptr);
  mutex_.unlock();
  if (raised != nullptr) raised->leave(id_);
}

}  // namespace corelane::rt
