#include "orb/core/server/pending_requests.h"

#include <algorithm>
#include <new>

#include "orb/core/server/server_job.h"
#include "orb/os/lock.h"

namespace corelane::core {

bool PendingRequests::add(ServerJob& job) {
  const os::LockGuard lock(mutex_);
  if (job.is_listed()) return true;
  if (jobs_.size() >= limit_) return false;
  jobs_.push_back(&job);
  job.set_listed(true);
  return true;
}

bool PendingRequests::add_running(ServerJob& job) noexcept try {
  const os::LockGuard lock(mutex_);
  if (!job.is_listed()) jobs_.push_back(&job);
  job.set_listed(true);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

void PendingRequests::replace(ServerJob& job, ServerJob& by) noexcept {
  const os::LockGuard lock(mutex_);
  by.inherit(job);
  if (!job.is_listed()) return;
  std::replace(jobs_.begin(), jobs_.end(), &job, &by);
  job.set_listed(false);
  by.set_listed(true);
}

void PendingRequests::remove(ServerJob& job) noexcept {
  const os::LockGuard lock(mutex_);
  std::erase(jobs_, &job);
  job.set_listed(false);
}

void PendingRequests::cancel(std::uint32_t request_id) noexcept {
  const os::LockGuard lock(mutex_);
  for (ServerJob* job : jobs_)
    if (job->to().request_id == request_id) job->cancel();
}

void PendingRequests::give_up() noexcept {
  const os::LockGuard lock(mutex_);
  for (ServerJob* job : jobs_)
    if (job->to().expected) job->cancel();
}

bool PendingRequests::empty() const noexcept {
  const os::LockGuard lock(mutex_);
  return jobs_.empty();
}

}  // namespace corelane::core
