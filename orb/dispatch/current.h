// CurrentJob: the job that the calling thread runs, for whoever is called from it.
// Threads: each its own.
#pragma once

#include <atomic>

#include "orb/dispatch/job.h"

namespace corelane::dispatch {

// What a job asks of whoever runs it. Thread: the job's own.
class JobControl {
 public:
  virtual ~JobControl() = default;
  // From here to leave() the thread runs at the resource's ceiling, where that is higher. Pairs are nested. False: the
  // contract does not name the resource; nothing changes, and it is counted.
  virtual bool enter(ResourceId resource) noexcept = 0;
  virtual void leave(ResourceId resource) noexcept = 0;
  // From suspend() to resume() the job waits for something else than its core: it uses none of its budget, and of what
  // its contract says about suspension. No pairs within pairs.
  virtual void suspend() noexcept = 0;
  virtual void resume() noexcept = 0;
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

// The calling thread's job, if it runs one, is suspended while this lives.
class SuspensionScope {
 public:
  explicit SuspensionScope(bool suspends = true) noexcept;
  ~SuspensionScope();
  SuspensionScope(const SuspensionScope&) = delete;
  SuspensionScope& operator=(const SuspensionScope&) = delete;

 private:
  JobControl* const control_;
};

}  // namespace corelane::dispatch
