// StreamObservers holds what observes a connection: a watcher, which gets the bytes, or a monitor.
// Threads: any.
#pragma once

#include <memory>
#include <utility>

#include "orb/base/thread_safety.h"
#include "orb/os/lock.h"
#include "orb/os/pi_mutex.h"
#include "orb/transport/connection.h"

namespace corelane::transport {

class StreamObservers {
 public:
  void set_watcher(std::shared_ptr<Watcher> watcher) noexcept {
    const os::LockGuard lock(mutex_);
    watcher_.swap(watcher);  // the one before is destroyed after the lock
  }
  std::shared_ptr<Watcher> watcher() const noexcept {
    const os::LockGuard lock(mutex_);
    return watcher_;
  }
  // Removes the watcher and returns it. Null: there is none.
  std::shared_ptr<Watcher> take_watcher() noexcept {
    const os::LockGuard lock(mutex_);
    return std::exchange(watcher_, nullptr);
  }

  void set_monitor(std::weak_ptr<ConnectionMonitor> monitor) noexcept {
    const os::LockGuard lock(mutex_);
    monitor_.swap(monitor);
    monitored_ = true;
  }
  // Returns whether a monitor was set. It may have ended since.
  bool is_monitored() const noexcept {
    const os::LockGuard lock(mutex_);
    return monitored_;
  }
  std::shared_ptr<ConnectionMonitor> monitor() const noexcept {
    const os::LockGuard lock(mutex_);
    return monitor_.lock();
  }

 private:
  mutable os::PiMutex mutex_;
  std::shared_ptr<Watcher> watcher_ CORELANE_GUARDED_BY(mutex_);
  bool monitored_ CORELANE_GUARDED_BY(mutex_) = false;
  std::weak_ptr<ConnectionMonitor> monitor_ CORELANE_GUARDED_BY(mutex_);
};

}  // namespace corelane::transport
