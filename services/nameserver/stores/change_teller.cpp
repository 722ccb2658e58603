#include "services/nameserver/stores/change_teller.h"

namespace corelane::nameserver {

void ChangeTeller::queue(const Changes& changes) {
  if (!told_) return;
  const std::lock_guard lock(mutex_);
  queued_.insert(queued_.end(), changes.begin(), changes.end());
}

void ChangeTeller::tell() {
  std::unique_lock lock(mutex_);
  if (telling_) return;
  telling_ = true;
  while (!queued_.empty()) {
    const Change change = std::move(queued_.front());
    queued_.pop_front();
    lock.unlock();
    told_(change);
    lock.lock();
  }
  telling_ = false;
}

}  // namespace corelane::nameserver
