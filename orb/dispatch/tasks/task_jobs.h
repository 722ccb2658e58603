// TaskJobs holds the jobs of one task that its core scheduler has accepted: those that wait, the oldest first, and the
// one that may run or runs.
//
// Threads: guarded by the lock of the pool that has the task. Nothing allocates.
// Invariant: at most one job may run or runs. A job that may run still waits here, until start().
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "orb/base/ids.h"
#include "orb/dispatch/current.h"
#include "orb/dispatch/job.h"
#include "orb/sched/schedulers/core_scheduler.h"

namespace corelane::dispatch {

class TaskJobs {
 public:
  bool full() const noexcept { return count_ == waiting_.size(); }
  // Returns the number of jobs that wait, without the one that runs.
  std::size_t waiting() const noexcept { return count_; }
  // Returns whether a job may run, runs or waits.
  bool any() const noexcept { return is_under_way() || count_ > 0; }
  // Returns whether a job may run or runs.
  bool is_under_way() const noexcept { return ready_ || running_ != nullptr; }
  bool is_ready() const noexcept { return ready_; }
  bool is_running() const noexcept { return running_ != nullptr; }
  // Returns the context of the job that may run or runs, or of the latest one that ran.
  const JobContext& context() const noexcept { return context_; }

  // Takes a job that waits now. Call it only if it is not full.
  void push(JobId id, JobPtr job) noexcept { waiting_[count_++] = {.id = id, .job = std::move(job)}; }
  // Takes out a job that waits; null: there is none with this id.
  JobPtr take(JobId id) noexcept {
    Waiting* const end = waiting_.data() + count_;
    Waiting* const at = std::find_if(waiting_.data(), end, [&](const Waiting& each) { return each.id == id; });
    if (at == end) return nullptr;
    JobPtr job = std::move(at->job);
    std::move(at + 1, end, at);
    --count_;
    return job;
  }

  // Lets the job of the context run.
  void make_ready(const JobContext& context) noexcept {
    context_ = context;
    ready_ = true;
  }
  // Notes that a job that may run will run on this core.
  void move_to(CoreId core) noexcept {
    if (ready_) context_.core = core;
  }
  // Takes out the job that may run: it runs now. Call it only if is_ready().
  JobPtr start() noexcept {
    ready_ = false;
    JobPtr job = take(context_.job);
    running_ = job.get();
    return job;
  }
  // Returns whether the job of the context was cancelled, maybe before it began.
  bool is_cancelled() const noexcept { return context_.job == cancelled_; }
  // Notes that the job of the context is cancelled. Returns it if it runs; null: it has not begun.
  Job* cancel() noexcept {
    cancelled_ = context_.job;
    return running_;
  }
  void end() noexcept { running_ = nullptr; }

 private:
  struct Waiting {
    JobId id{};
    JobPtr job;
  };

  std::array<Waiting, sched::max_waiting + 2> waiting_;
  std::size_t count_ = 0;
  bool ready_ = false;  // context_ names a job of waiting_ that may run
  JobContext context_{};
  Job* running_ = nullptr;
  JobId cancelled_{};  // the latest job that was cancelled
};

}  // namespace corelane::dispatch
