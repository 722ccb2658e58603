// Reopener: opens the own connections of an ORB's tasks anew, when they are lost or could not be had at first: on a
// thread of its own, under SCHED_OTHER, so that no call waits for it. TaskBinding says when one may be tried.
//
// Threads: any.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/os/thread.h"
#include "orb/os/wait.h"

namespace corelane::core {

class TaskBinding;

class Reopener {
 public:
  Reopener() = default;
  Reopener(const Reopener&) = delete;
  Reopener& operator=(const Reopener&) = delete;
  ~Reopener() { close(); }

  // Cares for the binding as long as that lives. The first one starts the thread: NO_RESOURCES no_thread, and nobody is
  // cared for then. BAD_INV_ORDER orb_destroyed after close(). Not for real-time threads.
  Expected<void> watch(const std::shared_ptr<TaskBinding>& binding);
  // A binding has lost its connection. Real-time threads, too.
  void wake() noexcept { parker_.unpark(); }
  // After the connections were closed, which ends the attempt under way: waits for that.
  // Idempotent.
  void close() noexcept;

 private:
  void run() noexcept;
  std::vector<std::shared_ptr<TaskBinding>> watched();

  // Shared.
  os::Parker parker_;
  std::atomic<bool> closing_{false};

  std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<std::weak_ptr<TaskBinding>> bindings_;
  os::Thread thread_;
};

}  // namespace corelane::core
