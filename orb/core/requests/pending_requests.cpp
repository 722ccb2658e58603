#include "orb/core/requests/pending_requests.h"

#include <algorithm>
#include <new>

#include "orb/os/lock.h"

namespace corelane::core {

bool PendingRequests::add(PendingRequest& request) {
  const os::LockGuard lock(mutex_);
  if (request.listed_) return true;
  if (requests_.size() >= limit_) return false;
  requests_.push_back(&request);
  request.listed_ = true;
  return true;
}

bool PendingRequests::add_running(PendingRequest& request) noexcept try {
  const os::LockGuard lock(mutex_);
  if (!request.listed_) requests_.push_back(&request);
  request.listed_ = true;
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

void PendingRequests::replace(PendingRequest& request, PendingRequest& by) noexcept {
  const os::LockGuard lock(mutex_);
  // relaxed: both are under the lock
  by.cancelled_.store(request.cancelled_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  if (!request.listed_) return;
  std::replace(requests_.begin(), requests_.end(), &request, &by);
  request.listed_ = false;
  by.listed_ = true;
}

void PendingRequests::remove(PendingRequest& request) noexcept {
  const os::LockGuard lock(mutex_);
  std::erase(requests_, &request);
  request.listed_ = false;
}

void PendingRequests::cancel(std::uint32_t request_id) noexcept {
  const os::LockGuard lock(mutex_);
  for (PendingRequest* request : requests_)
    if (request->to_.request_id == request_id) request->cancel();
}

void PendingRequests::give_up() noexcept {
  const os::LockGuard lock(mutex_);
  for (PendingRequest* request : requests_)
    if (request->to_.expected) request->cancel();
}

bool PendingRequests::empty() const noexcept {
  const os::LockGuard lock(mutex_);
  return requests_.empty();
}

}  // namespace corelane::core
