// CurrentJob: the job that the calling thread runs, for whoever is called from it.
// Threads: each its own.
#pragma once

#include <atomic>

#include "orb/dispatch/job.h"

namespace corelane::dispatch {

struct CurrentJob {
  JobContext context;
  const std::atomic<bool>* stop;  // the contract has cancelled it; nobody waits for its result any more
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

}  // namespace corelane::dispatch
