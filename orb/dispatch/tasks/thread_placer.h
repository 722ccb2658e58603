// ThreadPlacer places the thread of one task: on the task's core, at the level that its placement, the resources that
// its job has locked, and the budget of the job say.
//
// Threads: any, where a function does not say otherwise. The lock inherits priority. It is held while the kernel is
// asked. It is not taken with the pool's lock, except on cores by deadlines, and if one fact concerns more workers than
// DeferredWakeups holds.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "orb/base/contract.h"
#include "orb/base/ids.h"
#include "orb/base/thread_safety.h"
#include "orb/dispatch/resources/ceilings.h"
#include "orb/dispatch/tasks/thread_placement.h"
#include "orb/os/pi_mutex.h"

namespace corelane::dispatch {

class ThreadPlacer {
 public:
  // `contract` must outlive this object. `ceilings`: those of the resources that it uses.
  ThreadPlacer(const Contract& contract, CeilingsOfTask ceilings);

  // Puts the thread below all tasks until the job ends, or promote(): the job has used up its budget. With the pool's
  // lock; takes effect with settle().
  void demote() noexcept { demoted_.store(true, std::memory_order_relaxed); }  // relaxed: see is_served()
  // Undoes demote(); takes effect with settle(). What the job does from now on takes the place of the task's next job.
  // False: it was not demoted. With the pool's lock.
  bool promote() noexcept {
    return demoted_.exchange(false, std::memory_order_relaxed);  // relaxed: see is_served()
  }
  // Puts the thread behind the core's tasks until the job ends. The job has used more than its budget, its contract
  // does not enforce the budget, and the core's tasks have servers. With the pool's lock; takes effect with settle().
  void step_back() noexcept { stepped_back_.store(true, std::memory_order_relaxed); }  // relaxed: see is_served()
  // Undoes demote() and step_back(); takes effect with settle(). False: neither was in effect. With the pool's lock.
  bool restore() noexcept {
    if (is_served()) return false;
    const bool was_demoted = promote();
    const bool was_back = stepped_back_.exchange(false, std::memory_order_relaxed);  // relaxed: see is_served()
    return was_demoted || was_back;
  }
  // Returns whether neither demote() nor step_back() is in effect. A thread that changes either mark calls settle()
  // afterwards. So the last one to place the worker's thread sees both.
  bool is_served() const noexcept {
    // relaxed: no other data depends on the marks
    return !demoted_.load(std::memory_order_relaxed) && !stepped_back_.load(std::memory_order_relaxed);
  }
  // Applies what demote(), step_back() and restore() noted. Makes some system calls, which may wait for the kernel:
  // call it without the pool's lock. A call that is repeated or late does no harm.
  void settle() noexcept;

  // Locks or unlocks a resource of the contract: the thread runs at its ceiling meanwhile. enter() returns false if the
  // contract does not name the resource. Thread: the task's.
  bool enter(ResourceId resource) noexcept;
  void leave(ResourceId resource) noexcept;
  // Applies a changed ceiling of a resource that the job may have locked.
  void refresh_ceilings() noexcept;

  // Sets the thread when it has started (manager or housekeeper), or null when it is about to end.
  void attach(WorkerThread* thread) noexcept;
  // See WorkerThread::rebind().
  void rebind() noexcept;
  // Asks again for a share that was refused. The kernel judges by the core where the thread ran last. So a thread that
  // comes from another core asks here, on the new core. A thread that lost its share asks whenever it wakes. Thread:
  // the task's.
  void take_share() noexcept;

  // Sets where the thread belongs from now on. With the manager's lock.
  void placement(ThreadPlacement placement) noexcept;
  ThreadPlacement placement() const noexcept;
  // Returns the same, but level 0 if the thread has no level: the system refused it, or the thread has a share instead.
  // For a report.
  ThreadPlacement granted_placement() const noexcept;
  // Sets another level on the same core. With the pool's lock, of a core by deadlines.
  void set_level(int native) noexcept;
  // Does the same for the calling thread. A level above the one that it has takes effect at once. False: the level is
  // lower, and takes effect when the thread calls settle().
  bool raise_level(int native) noexcept;

 private:
  std::size_t use_index(ResourceId resource) const noexcept;
  int native() const noexcept CORELANE_REQUIRES(mutex_);
  void place() noexcept CORELANE_REQUIRES(mutex_);

  // Constant.
  const Contract& contract_;
  const CeilingsOfTask ceilings_;

  // Written with the pool's lock, read by threads that place the worker's thread. Not guarded by mutex_: that is held
  // while the kernel is asked, and a thread that writes them holds the lock of a core.
  std::atomic<bool> demoted_{false};
  std::atomic<bool> stepped_back_{false};

  mutable os::PiMutex mutex_;
  ThreadPlacement placement_ CORELANE_GUARDED_BY(mutex_);
  WorkerThread* thread_ CORELANE_GUARDED_BY(mutex_) = nullptr;
  int placed_at_ CORELANE_GUARDED_BY(mutex_) = 0;       // the latest level that was asked for
  bool misplaced_ CORELANE_GUARDED_BY(mutex_) = false;  // the system refused its placement
  // How often the task's job has locked what it uses.
  std::array<std::uint8_t, max_uses> held_ CORELANE_GUARDED_BY(mutex_){};
};

}  // namespace corelane::dispatch
