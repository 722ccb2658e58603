// Resource is a lock that jobs of several tasks, and other threads, take one after another, with an immediate priority
// ceiling. Suspension marks the time in which a servant waits for something other than its core.
//
//   rt::Resource bus("bus");                              // one object for each resource of the process
//   ...
//   // In a servant with the contract @rt::uses(resource = "bus", ...):
//   const std::lock_guard<rt::Resource> section(bus);
//
// From lock() to unlock(), a job runs at the resource's ceiling: the priority of its most urgent user. So no other user
// of the resource runs meanwhile, and a user that runs finds the lock free. Threads that are not jobs of a task with
// such a contract may lock it, too. A waiting thread lends them its priority (PTHREAD_PRIO_INHERIT), but no analysis
// includes their sections. docs/scheduling.md, "Resources", describes what the analysis needs of a contract.
//
// Threads: any. Neither class blocks, except for the lock. Entering and leaving cost two system calls if the ceiling is
// above the task's own priority, otherwise none. Sections nest: unlock the last locked one first.
#pragma once

#include "orb/base/language.h"

#include <string_view>

#include "orb/base/contract.h"
#include "orb/base/thread_safety.h"
#include "orb/dispatch/current.h"
#include "orb/os/pi_mutex.h"

namespace corelane::rt {

class CORELANE_CAPABILITY("resource") Resource {
 public:
  // `name`: the name in the contracts that use the resource. Not for real-time threads.
  explicit Resource(std::string_view name) noexcept;
  Resource(const Resource&) = delete;
  Resource& operator=(const Resource&) = delete;

  void lock() noexcept CORELANE_ACQUIRE();
  bool try_lock() noexcept CORELANE_TRY_ACQUIRE(true);
  void unlock() noexcept CORELANE_RELEASE();

  ResourceId id() const noexcept { return id_; }

 private:
  // Returns the job that now runs at the ceiling; null if this thread runs no such job.
  dispatch::JobControl* enter() noexcept;

  const ResourceId id_;
  os::PiMutex mutex_;
  dispatch::JobControl* raised_ CORELANE_GUARDED_BY(mutex_) = nullptr;
};

// Suspension encloses a wait of a servant: for a device, a disk, another program. Calls of other objects declare it
// themselves. The time counts as suspension S of the contract, not as execution. What exceeds S is an oversleep
// (corelane::rt::on_oversleep), and is treated like an overrun if the contract is enforced. A wait that blocks without
// being declared is detected and treated the same way (docs/scheduling.md, waits that nobody declared). In a request
// without a contract, another request may use the time (best_effort.waiting). It has no effect on other threads.
class Suspension {
 public:
  Suspension() = default;

 private:
  const dispatch::SuspensionScope scope_;
};

}  // namespace corelane::rt
