#include "services/nameserver/stores/tree/change_notifier.h"

#include <exception>
#include <string>
#include <utility>

#include "orb/base/thread_safety.h"
#include "orb/os/lock.h"
#include "orb/os/log.h"

namespace corelane::nameserver {

void ChangeNotifier::on_change(std::function<void(const Change&)> callback) {
  os::UniqueLock lock(mutex_);
  leaving_ = true;
  queued_.clear();
  notified_all_.wait(lock, [this]() CORELANE_REQUIRES(mutex_) { return !notifying_; });
  callback_ = std::move(callback);
  leaving_ = false;
}

void ChangeNotifier::queue(const Changes& changes) {
  const os::LockGuard lock(mutex_);
  if (!callback_ || leaving_) return;
  queued_.insert(queued_.end(), changes.begin(), changes.end());
}

// Catches every exception. The callback misses that one change, gets the others, and on_change() does not wait forever.
void ChangeNotifier::notify_one(const Change& change) noexcept {
  try {
    callback_(change);
  } catch (const std::exception& why) {
    os::log::warn(std::string("naming: a listener did not take a change: ") + why.what());
  } catch (...) {
    os::log::warn("naming: a listener did not take a change, for an unknown reason");
  }
}

void ChangeNotifier::notify() {
  os::UniqueLock lock(mutex_);
  if (notifying_) return;
  notifying_ = true;
  while (!queued_.empty()) {
    const Change change = std::move(queued_.front());
    queued_.pop_front();
    lock.unlock();
    notify_one(change);
    lock.lock();
  }
  notifying_ = false;
  notified_all_.notify_all();
}

}  // namespace corelane::nameserver
