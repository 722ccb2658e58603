// CurrentJob: the job that the calling thread runs, for whoever is called from it.
// Threads: each its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "orb/dispatch/job.h"

namespace corelane::dispatch {

// What a thread waits for: `peer`: that the client of the request which it runs takes replies. Whoever runs another
// request of that client instead would only wait, too.
enum class WaitsFor : std::uint8_t { anything, peer };

// Hears that the thread which it belongs to waits, from suspend() to resume(), for something else than its core. No
// pairs within pairs. Thread: that thread.
class Suspendable {
 public:
  virtual ~Suspendable() = default;
  virtual void suspend(WaitsFor what) noexcept = 0;
  virtual void resume(WaitsFor what) noexcept = 0;
  // Whether another thread takes its place from suspend() on, so that it may wait for a peer's sake.
  virtual bool has_substitute() const noexcept { return false; }
};

// What a job asks of whoever runs it; suspended it uses none of its budget, and of what its contract says about
// suspension. Thread: the job's own.
class JobControl : public Suspendable {
 public:
  // From here to leave() the thread runs at the resource's ceiling, where that is higher. Pairs are nested. False: the
  // contract does not name the resource; nothing changes, and it is counted.
  virtual bool enter(ResourceId resource) noexcept = 0;
  virtual void leave(ResourceId resource) noexcept = 0;
  // Jobs of the task that wait for this one to end.
  virtual std::size_t waiting_jobs() const noexcept = 0;
};

struct CurrentJob {
  JobContext context;
  const std::atomic<bool>* stop;  // the contract has cancelled it; nobody waits for its result any more
  JobControl* control = nullptr;  // null where nothing is promised
};

// Null outside a task's job.
const CurrentJob* current_job() noexcept;

// Makes `job` the current one, until destruction.
class CurrentScope {
 public:
  explicit CurrentScope(const CurrentJob& job) noexcept;
  ~CurrentScope();
  CurrentScope(const CurrentScope&) = delete;
  CurrentScope& operator=(const CurrentScope&) = delete;

 private:
  const CurrentJob* const before_;
};

// What runs on the calling thread outside tasks' jobs tells `thread` when it is suspended, until destruction.
class SuspendableScope {
 public:
  explicit SuspendableScope(Suspendable& thread) noexcept;
  ~SuspendableScope();
  SuspendableScope(const SuspendableScope&) = delete;
  SuspendableScope& operator=(const SuspendableScope&) = delete;
};

// See Suspendable: of the calling thread, now. False in a task's job.
bool has_substitute() noexcept;

// While this lives the calling thread waits: its job, if it runs one, is suspended, and its place with those that take
// requests without a contract is free for another one. `sleeps`: it uses no core; a job that does goes on.
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
