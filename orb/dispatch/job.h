// Job is one request on its way through the executive, from the queue to the thread that runs it. The owner (orb/core)
// derives a class from it that keeps the request's bytes, and gets the job back through recycle().
//
// Threads: owned by one thread at a time. submit() passes the job to the thread that dispatches (the manager's, or one
// that dispatches in its place). That thread passes it to the task's thread.
// Exactly one of run(), refuse() and fail() is called, then recycle().
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "orb/base/contract.h"
#include "orb/base/error.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/dispatch/clock.h"
#include "orb/sched/refusal.h"

namespace corelane::dispatch {

// Returns an id for a job that goes to a core scheduler. Any thread.
inline JobId next_job_id() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return JobId{last.fetch_add(1, std::memory_order_relaxed) + 1};  // relaxed: only uniqueness counts
}

// JobContext is what the executive tells a job that runs.
struct JobContext {
  TaskId task;      // no_task in the best-effort executor; for the first job of a new task, the id that the task got
  JobId job;        // unique within the process
  CoreId core;      // no_core in the best-effort executor
  Time release;     // the arrival, or for an early job the instant from which it was eligible
  Time deadline;    // release + D; `never` in the best-effort executor
  Duration budget;  // C; zero in the best-effort executor
};

// Returns the context of a job without a contract.
constexpr JobContext best_effort_context(Time arrived) noexcept {
  return {.task = no_task, .job = {}, .core = no_core, .release = arrived, .deadline = never, .budget = {}};
}

// Returns when a job arrived that was found in a step which began at `now`: its stamp, or `now` if it has none. For a
// stamp after `now` the clock is read, because the thread may have been delayed for milliseconds since the step began.
// With `now`, such a job would count from before its arrival, and the job after it could come too soon.
inline Time arrival_of(Time stamp, Time now, const Clock& clock) noexcept {
  if (stamp == Time{}) return now;
  return stamp <= now ? stamp : std::min(stamp, std::max(now, clock.now()));
}

class Job {
 public:
  Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // Runs the servant, and keeps what finish() sends. Thread: the task's own, or one of the best-effort pool.
  virtual void run(const JobContext& context) noexcept = 0;
  // Sends the reply. It is called right after run(), on the same thread, and is part of the job. It does not block on a
  // thread that has no substitute (has_substitute()), so a thread that waits for the job need not wake a replacement.
  virtual void finish() noexcept {}
  // Ends a job that has used up its budget: sends TIMEOUT, COMPLETED_MAYBE, if nothing was sent. What run() leaves is
  // dropped. Thread: the one that watches budgets, at any time during run() and finish(); or the task's, right before
  // run(). Does not block.
  virtual void time_out() noexcept {}
  // Sends the reply that says why the job may not run. Thread: any that holds the manager's lock, or the task's thread.
  // Does not block.
  virtual void refuse(const sched::Refusal& refusal) noexcept = 0;
  // Ends a job that was accepted but cannot run any more: its task left, another job took its place in the full queue,
  // or the executive stops. Thread: as for refuse(), the one that submits the other job, or the one that stops the
  // executive. Does not block.
  virtual void fail(Error error) noexcept = 0;
  // Gives the job back to its owner, which pools or deletes it. This is the last call. Thread: the one that made the
  // call before it.
  virtual void recycle() noexcept = 0;

  // Set before submit().
  Time arrived{};                    // when the request arrived, by os::now()
  TaskId task = no_task;             // an admitted task; or no_task: a new task if `contract` is set, else best effort
  PeerId owner{};                    // the peer whose connection it came on; a task belongs to one peer
  std::optional<Contract> contract;  // with no_task: admit a new task with it and run this job as its first
  std::string_view label;            // names the new task in reports; must live until the job ends
  bool is_internal = false;          // not a request but work of the process itself; runs on no task's thread

 protected:
  ~Job() = default;

 private:
  friend class RequestQueue;
  friend class JobList;
  friend class AdmittedTasks;
  friend class ManagerDriver;
  Job* next_ = nullptr;  // owner: the list that holds the job
  JobId id_{};           // given by the manager, if the job passes it
};

struct Recycler {
  void operator()(Job* job) const noexcept { job->recycle(); }
};
using JobPtr = std::unique_ptr<Job, Recycler>;

}  // namespace corelane::dispatch
