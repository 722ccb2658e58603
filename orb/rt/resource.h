// Resource: something that jobs of several tasks, and others, use one after another, under an immediate ceiling. And
// Suspension, for a servant that waits for something else than its core.
//
//   rt::Resource bus("bus");                              // one object for each resource of the process
//   ...
//   const std::lock_guard<rt::Resource> section(bus);     // in a servant whose contract says @rt::uses(resource =
//   "bus", ...)
//
// A job runs at the resource's ceiling, the priority of its most urgent user, from lock() to unlock(); so nobody else
// who might want it gets to run meanwhile, and the lock is free for whoever does. Threads that are no job of a task
// with such a contract may lock it, too: whoever waits for them lends them his priority (PTHREAD_PRIO_INHERIT), but
// their sections are not in any analysis. What the analysis needs of a contract is docs/scheduling.md, "Resources".
//
// Threads: any. Neither blocks but for the lock; entering and leaving cost two system calls where the ceiling is above
// the task's own priority, and none where it is not. Sections are nested: the last that was locked is unlocked first.
#pragma once

#include "orb/base/language.h"

#include <string_view>

#include "orb/base/contract.h"
#include "orb/dispatch/current.h"
#include "orb/os/pi_mutex.h"

namespace corelane::rt {

class Resource {
 public:
  // Contracts that use it have it by this name. Not for real-time threads.
  explicit Resource(std::string_view name) noexcept;
  Resource(const Resource&) = delete;
  Resource& operator=(const Resource&) = delete;

  void lock() noexcept;
  bool try_lock() noexcept;
  void unlock() noexcept;

  ResourceId id() const noexcept { return id_; }

 private:
  // The job that runs at the ceiling from now on; null when this thread runs none that does.
  dispatch::JobControl* enter() noexcept;

  const ResourceId id_;
  os::PiMutex mutex_;
  dispatch::JobControl* raised_ = nullptr;  // guarded by mutex_: by its holder
};

// Around what a servant waits for: a device, a disk, another program. Calls of other objects say it by themselves. The
// time counts as suspension S of the contract, not as execution; what exceeds S is an oversleep
// (corelane::rt::on_oversleep), treated like an overrun where the contract is enforced; and what is not declared so and
// blocks all the same is found out and treated alike (docs/scheduling.md, waits that nobody declared). In a request
// without a contract the time is free for another one (best_effort.waiting). Nothing happens on other threads.
class Suspension {
 public:
  Suspension() = default;

 private:
  const dispatch::SuspensionScope scope_;
};

}  // namespace corelane::rt
