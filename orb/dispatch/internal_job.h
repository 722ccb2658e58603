// InternalJob is work of the process itself that comes again and again, such as writing to the log. It is under way at
// most once: what comes while it waits for its thread is done by the same run.
//
// Threads: take(): any, also real-time ones; the rest as Job.
#pragma once

#include <atomic>

#include "orb/dispatch/job.h"
#include "orb/os/clock.h"

namespace corelane::dispatch {

class InternalJob : public Job {
 protected:
  InternalJob() noexcept { is_internal = true; }
  ~InternalJob() = default;

  // Returns this job, for the executor that runs it; null: it is under way already.
  JobPtr take() noexcept {
    // PAIR internal_job.under_way: acquire here <- release in put_back(). The job is free.
    if (under_way_.exchange(true, std::memory_order_acquire)) return nullptr;
    arrived = os::now();
    return JobPtr(this);
  }
  // Lets take() return the job again. Call it in recycle(), after the last use of what the job owns.
  void put_back() noexcept {
    // PAIR internal_job.under_way: release here -> acquire in take().
    under_way_.store(false, std::memory_order_release);
  }

 private:
  void refuse(const sched::Refusal&) noexcept final {}
  void fail(Error) noexcept final {}

  std::atomic<bool> under_way_{false};
};

}  // namespace corelane::dispatch
