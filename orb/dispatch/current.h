// CurrentJob is the job that runs on the calling thread. Code that a servant calls, such as a nested call, finds it
// here.
// Threads: each its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "orb/dispatch/job.h"

namespace corelane::dispatch {

// What a thread waits for. `peer`: the client of the current request must take replies. Another thread that ran another
// request of the same client instead would wait, too.
enum class WaitsFor : std::uint8_t { anything, peer };

// Suspendable is notified when its thread begins (suspend()) and ends (resume()) a wait for something other than its
// core. The calls are not nested. Thread: the one that waits.
class Suspendable {
 public:
  virtual ~Suspendable() = default;
  virtual void suspend(WaitsFor what) noexcept = 0;
  virtual void resume(WaitsFor what) noexcept = 0;
  // Returns whether another thread replaces it from suspend() on, so that it may wait for a peer.
  virtual bool has_substitute() const noexcept { return false; }
};

// JobControl is what a job asks of the code that runs it. A suspended job uses none of its budget, but some of the
// suspension that its contract declares. Thread: the job's own.
class JobControl : public Suspendable {
 public:
  // Makes the thread run at the resource's ceiling until leave(), if that is higher. Pairs may be nested. Returns false
  // if the contract does not name the resource; then only a counter changes.
  virtual bool enter(ResourceId resource) noexcept = 0;
  virtual void leave(ResourceId resource) noexcept = 0;
  // Returns the number of the task's jobs that wait for this one to end.
  virtual std::size_t waiting_jobs() const noexcept = 0;
};

struct CurrentJob {
  JobContext context;
  const std::atomic<bool>* stop;  // set when the contract has cancelled the job; null where contracts cancel none
  JobControl* control = nullptr;  // null if nothing is promised to the task
};

// Returns the job on the calling thread; null outside a task's job.
const CurrentJob* current_job() noexcept;

// Makes `job` the current job of the thread until destruction.
class CurrentScope {
 public:
  explicit CurrentScope(const CurrentJob& job) noexcept;
  ~CurrentScope();
  CurrentScope(const CurrentScope&) = delete;
  CurrentScope& operator=(const CurrentScope&) = delete;

 private:
  const CurrentJob* const before_;
};

// Notifies `thread` of the calling thread's waits outside tasks' jobs, until destruction.
class SuspendableScope {
 public:
  explicit SuspendableScope(Suspendable& thread) noexcept;
  ~SuspendableScope();
  SuspendableScope(const SuspendableScope&) = delete;
  SuspendableScope& operator=(const SuspendableScope&) = delete;
};

// Returns Suspendable::has_substitute() for the calling thread, now. False in a task's job.
bool has_substitute() noexcept;

// Marks the calling thread as waiting until destruction. The job that it runs is suspended. A thread that runs requests
// without a contract can be replaced meanwhile. `sleeps`: the thread uses no core; otherwise a task's job is not
// suspended.
class SuspensionScope {
 public:
  explicit SuspensionScope(bool sleeps = true, WaitsFor what = WaitsFor::anything) noexcept;
  ~SuspensionScope();
  SuspensionScope(const SuspensionScope&) = delete;
  SuspensionScope& operator=(const SuspensionScope&) = delete;

 private:
  Suspendable* const control_;
  const WaitsFor what_;
};

}  // namespace corelane::dispatch
