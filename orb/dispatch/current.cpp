#include "orb/dispatch/current.h"

#include <utility>

namespace corelane::dispatch {
namespace {

thread_local const CurrentJob* job_here = nullptr;
thread_local bool suspended = false;  // its job

// Whom to tell; null when nobody is to be told, or was already.
JobControl* control_of(bool suspends) noexcept {
  return suspends && job_here != nullptr && !suspended ? job_here->control : nullptr;
}

}  // namespace

const CurrentJob* current_job() noexcept { return job_here; }

CurrentScope::CurrentScope(const CurrentJob& job) noexcept : before_(std::exchange(job_here, &job)) {}

CurrentScope::~CurrentScope() { job_here = before_; }

SuspensionScope::SuspensionScope(bool suspends) noexcept : control_(control_of(suspends)) {
  if (control_ == nullptr) return;
  suspended = true;
  control_->suspend();
}

SuspensionScope::~SuspensionScope() {
  if (control_ == nullptr) return;
  suspended = false;
  control_->resume();
}

}  // namespace corelane::dispatch
