// StreamEnd knows whether a connection is open, why it has closed, and which threads wait for that.
// Threads: any. All functions but is_open() need the connection's mutex, which await() releases while it waits.
#pragma once

#include <atomic>
#include <utility>

#include "orb/base/error.h"
#include "orb/base/minor.h"
#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/os/clock.h"
#include "orb/os/lock.h"
#include "orb/os/pi_mutex.h"
#include "orb/os/wait/wait.h"
#include "orb/transport/connection.h"

namespace corelane::transport {

class StreamEnd {
 public:
  static constexpr Error closed_here = ended_by(minor::closed_here);

  bool is_open() const noexcept {
    // PAIR connection.closed: acquire here <- release in close().
    return !closed_.load(std::memory_order_acquire);
  }
  // Returns whether more may be sent: the connection is open, and refuse_more() was not called.
  bool takes_more() const noexcept { return is_open() && !ending_; }
  Error why_refused() const noexcept { return is_open() ? closed_here : reason_; }
  Error reason() const noexcept { return reason_; }

  // Lets nothing more be sent. What waits to be sent is still sent.
  void refuse_more() noexcept { ending_ = true; }
  // Call it once, while the connection is open.
  void close(Error why) noexcept {
    reason_ = why;
    // PAIR connection.closed: release here -> acquire in is_open(). After it, a receiver that wakes up knows why.
    closed_.store(true, std::memory_order_release);
    for (Waiter* waiter = waiters_; waiter != nullptr; waiter = waiter->next) waiter->parker.unpark();
  }

  // Waits until the connection is closed. Returns false if `deadline` came first.
  bool await(os::PiMutex& mutex, Time deadline) noexcept CORELANE_REQUIRES(mutex) {
    Waiter self;
    self.next = std::exchange(waiters_, &self);
    // Bound: the deadline.
    while (is_open() && os::now() < deadline) {
      const os::ReleasedLock released(mutex);
      self.parker.park(deadline);
    }
    Waiter** at = &waiters_;
    while (*at != &self) at = &(*at)->next;  // bound: the threads that wait
    *at = self.next;
    return !is_open();
  }

 private:
  // A thread that waits for the end; the object is on its stack.
  struct Waiter {
    os::Parker parker{};
    Waiter* next = nullptr;
  };

  std::atomic<bool> closed_{false};
  bool ending_ = false;
  Error reason_{};
  Waiter* waiters_ = nullptr;
};

}  // namespace corelane::transport
