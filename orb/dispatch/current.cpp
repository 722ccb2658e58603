#include "orb/dispatch/current.h"

#include <utility>

namespace corelane::dispatch {
namespace {

thread_local const CurrentJob* job_here = nullptr;
thread_local Suspendable* thread_here = nullptr;  // for what runs outside tasks' jobs
thread_local bool suspended = false;

// Returns the object to notify of the wait; null if there is none, or the wait is already known.
Suspendable* told_by(bool sleeps) noexcept {
  if (suspended) return nullptr;
  if (job_here == nullptr) return thread_here;
  return sleeps ? job_here->control : nullptr;
}

}  // namespace

[[gnu::hot]] const CurrentJob* current_job() noexcept { return job_here; }

CurrentScope::CurrentScope(const CurrentJob& job) noexcept : before_(std::exchange(job_here, &job)) {}

CurrentScope::~CurrentScope() { job_here = before_; }

SuspendableScope::SuspendableScope(Suspendable& thread) noexcept { thread_here = &thread; }

SuspendableScope::~SuspendableScope() { thread_here = nullptr; }

[[gnu::hot]] bool has_substitute() noexcept {
  return job_here == nullptr && thread_here != nullptr && !suspended && thread_here->has_substitute();
}

[[gnu::hot]] SuspensionScope::SuspensionScope(bool sleeps, WaitsFor what) noexcept
    : control_(told_by(sleeps)), what_(what) {
  if (control_ == nullptr) return;
  suspended = true;
  control_->suspend(what_);
}

[[gnu::hot]] SuspensionScope::~SuspensionScope() {
  if (control_ == nullptr) return;
  suspended = false;
  control_->resume(what_);
}

}  // namespace corelane::dispatch
