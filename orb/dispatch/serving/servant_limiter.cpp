#include "orb/dispatch/serving/servant_limiter.h"

#include <algorithm>
#include <utility>

#include "orb/os/clock.h"
#include "orb/os/lock.h"

namespace corelane::dispatch {

std::optional<sched::ServantWindow> ServantMeter::count(Time now, int running, bool full) noexcept {
  const Duration span = now - counted_;
  counted_ = now;
  window_.length += span;
  window_.in_servants += span * running;
  if (full) window_.full += span;
  if (window_.length < window) return {};
  const sched::ServantWindow ended = std::exchange(window_, {});
  if (ended.length > longest || ended.in_servants == Duration::zero()) return {};
  return ended;
}

ServantLimiter::ServantLimiter(const sched::ServantLimit& limit, int threads)
    : is_on_(limit.is_on()), limit_(limit.is_automatic ? threads : limit.most) {
  if (!limit.is_automatic) return;
  control_.emplace(threads);
  meter_.begin(os::now());
}

// Bound of the loop: the servants that run, and the threads that take a permit before this one.
void ServantLimiter::take_permit() noexcept {
  os::UniqueLock lock(mutex_);
  if (control_) count_time();
  while (is_full()) {
    ++waiting_;
    if (control_)
      (void)permit_.wait_for(lock, ServantMeter::window);  // ends the window if no servant ends
    else
      permit_.wait(lock);
    --waiting_;
    woken_ = std::max(0, woken_ - 1);
    if (control_) count_time();
  }
  ++running_;
}

bool ServantLimiter::take_free_permit() noexcept {
  const os::LockGuard lock(mutex_);
  if (control_) count_time();
  if (is_full()) return false;
  ++running_;
  return true;
}

void ServantLimiter::return_permit() noexcept {
  const os::LockGuard lock(mutex_);
  if (control_) {
    count_time();
    meter_.end_servant();
  }
  --running_;
  // At most as many woken threads are on their way as permits are free.
  if (woken_ >= std::min(waiting_, limit_ - running_)) return;
  ++woken_;
  permit_.notify_one();
}

void ServantLimiter::take_permit_at_once() noexcept {
  const os::LockGuard lock(mutex_);
  if (control_) count_time();
  ++running_;
}

void ServantLimiter::lift() noexcept {
  const os::LockGuard lock(mutex_);
  is_lifted_ = true;
  permit_.notify_all();
}

void ServantLimiter::count_time() noexcept {
  const auto window = meter_.count(os::now(), std::max(0, running_), waiting_ > 0);
  if (!window) return;
  control_->take(*window);
  const int before = std::exchange(limit_, control_->limit());
  if (limit_ > before) permit_.notify_all();
}

int ServantLimiter::limit() const noexcept {
  const os::LockGuard lock(mutex_);
  if (!is_on_ || is_lifted_) return 0;
  return control_ ? control_->decided() : limit_;
}

int ServantLimiter::waiting() const noexcept {
  const os::LockGuard lock(mutex_);
  return waiting_;
}

}  // namespace corelane::dispatch
