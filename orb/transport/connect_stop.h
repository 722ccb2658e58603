// ConnectStop ends connection attempts in progress, for a thread that must not wait until they fail by themselves.
// Threads: any.
#pragma once

#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/os/clock.h"
#include "orb/os/lock.h"
#include "orb/os/pi_mutex.h"

namespace corelane::transport {

class ConnectStop {
 public:
  ConnectStop() = default;
  ConnectStop(const ConnectStop&) = delete;
  ConnectStop& operator=(const ConnectStop&) = delete;

  // Scope registers a socket while it is being connected. Destroy it before the descriptor is closed. Null: nothing
  // stops the socket.
  class Scope {
   public:
    Scope(ConnectStop* stop, int descriptor) noexcept : stop_(stop), descriptor_(descriptor) {
      if (stop_ == nullptr) return;
      const os::LockGuard lock(stop_->mutex_);
      next_ = stop_->first_;
      stop_->first_ = this;
      if (stop_->stopped()) ::shutdown(descriptor_, SHUT_RDWR);
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() {
      if (stop_ == nullptr) return;
      const os::LockGuard lock(stop_->mutex_);
      Scope** at = &stop_->first_;
      while (*at != this) at = &(*at)->next_;  // bound: connection attempts in progress
      *at = next_;
    }

   private:
    friend class ConnectStop;
    ConnectStop* const stop_;
    const int descriptor_;
    Scope* next_ = nullptr;  // guarded by the mutex of stop_
  };

  // Makes attempts in progress fail, and later ones fail at once. Idempotent.
  void stop() noexcept {
    const os::LockGuard lock(mutex_);
    stopped_.store(true, std::memory_order_relaxed);  // relaxed: a flag; the sockets are shut down under the mutex
    for (const Scope* scope = first_; scope != nullptr; scope = scope->next_) ::shutdown(scope->descriptor_, SHUT_RDWR);
  }
  bool stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }  // relaxed: as above

 private:
  os::PiMutex mutex_;
  Scope* first_ CORELANE_GUARDED_BY(mutex_) = nullptr;
  std::atomic<bool> stopped_{false};
};

// Returns until when a thread may wait without a look at stopped(), if it waits for something that stop() cannot end: a
// blocking connect(), or another thread. Null: until the deadline.
inline Time next_look(const ConnectStop* stop, Time deadline) noexcept {
  constexpr std::chrono::milliseconds between_looks{20};
  return stop == nullptr ? deadline : std::min(deadline, os::now() + between_looks);
}

}  // namespace corelane::transport
