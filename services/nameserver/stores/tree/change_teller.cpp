#include "services/nameserver/stores/tree/change_teller.h"

#include <exception>
#include <string>
#include <utility>

#include "orb/os/log.h"

namespace corelane::nameserver {

void ChangeTeller::on_change(std::function<void(const Change&)> told) {
  std::unique_lock lock(mutex_);
  leaving_ = true;
  queued_.clear();
  told_all_.wait(lock, [this] { return !telling_; });
  told_ = std::move(told);
  leaving_ = false;
}

void ChangeTeller::queue(const Changes& changes) {
  const std::lock_guard lock(mutex_);
  if (!told_ || leaving_) return;
  queued_.insert(queued_.end(), changes.begin(), changes.end());
}

// Catches every exception. The callback misses that one change, gets the others, and on_change() does not wait forever.
void ChangeTeller::tell_one(const Change& change) noexcept {
  try {
    told_(change);
  } catch (const std::exception& why) {
    os::log::warn(std::string("naming: a listener did not take a change: ") + why.what());
  } catch (...) {
    os::log::warn("naming: a listener did not take a change, for an unknown reason");
  }
}

void ChangeTeller::tell() {
  std::unique_lock lock(mutex_);
  if (telling_) return;
  telling_ = true;
  while (!queued_.empty()) {
    const Change change = std::move(queued_.front());
    queued_.pop_front();
    lock.unlock();
    tell_one(change);
    lock.lock();
  }
  telling_ = false;
  told_all_.notify_all();
}

}  // namespace corelane::nameserver
