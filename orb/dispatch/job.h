// Job: one request on its way through the executive, from the queue to the thread that runs it. The owner (orb/core)
// derives from it, keeps the request's bytes in it, and gets it back through recycle().
//
// Threads: owned by one thread at a time; submit() hands it to whoever takes the manager's turn, and that one to the
// task's thread.
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

// For each job that goes to a lane. Any thread.
inline JobId next_job_id() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return JobId{last.fetch_add(1, std::memory_order_relaxed) + 1};  // relaxed: only uniqueness counts
}

// What the executive tells a job that runs.
struct JobContext {
  TaskId task;      // no_task in the best-effort lane; for the first job of a new task the id it got
  JobId job;        // unique within the process
  CoreId core;      // no_core in the best-effort lane
  Time release;     // the arrival, or for an early job the instant from which it was eligible
  Time deadline;    // release + D; `never` in the best-effort lane
  Duration budget;  // C; zero in the best-effort lane
};

// Of one that nothing was agreed for.
constexpr JobContext best_effort_context(Time arrived) noexcept {
  return {.task = no_task, .job = {}, .core = no_core, .release = arrived, .deadline = never, .budget = {}};
}

// When a job came that has been found in a step which began at `now`: its stamp, or `now` where it has none. One that
// came since is looked at by the clock: with the time of the step, from which its thread may have been kept for
// milliseconds, it would count from before it came, and the job after it could follow too soon.
inline Time arrival_of(Time stamp, Time now, const Clock& clock) noexcept {
  if (stamp == Time{}) return now;
  return stamp <= now ? stamp : std::min(stamp, std::max(now, clock.now()));
}

class Job {
 public:
  Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // Runs the servant; leaves what finish() sends. Thread: the task's own, or one of the best-effort pool.
  virtual void run(const JobContext& context) noexcept = 0;
  // Right after run(), on its thread and part of the job: sends the reply. Does not block where nobody takes the
  // thread's place (has_substitute()), so a thread that waits for the job need not wake a replacement.
  virtual void finish() noexcept {}
  // The job has used up its budget: sends TIMEOUT, COMPLETED_MAYBE, if nothing was sent, and what run() leaves is
  // dropped. Thread: the budgets', at any time during run() and finish(); or the task's, right before run(). Does not
  // block.
  virtual void time_out() noexcept {}
  // The job may not run; sends the reply that says why. Thread: any that holds the manager's lock. Does not block.
  virtual void refuse(const sched::Refusal& refusal) noexcept = 0;
  // The job was accepted but cannot run any more (its task left, another one took its place in the full queue, or the
  // executive stops). Thread: as for refuse(), the one that submits the other job, or the one that stops the
  // executive. Does not block.
  virtual void fail(Error error) noexcept = 0;
  // The last call: the owner takes the job back (a pool, or delete). Thread: the one that made the call before it.
  virtual void recycle() noexcept = 0;

  // Set before submit().
  Time arrived{};                    // when the request came in, by os::now()
  TaskId task = no_task;             // an admitted task; or no_task: new when `contract` is there, else best effort
  PeerId owner{};                    // whose connection it came on; tasks are only their owner's
  std::optional<Contract> contract;  // with no_task: admit a new task with it and run this job as its first
  std::string_view label;            // names the new task in reports; must live until the job ends
  bool chore = false;                // no request, work of the process itself: on a thread that serves nobody

 protected:
  ~Job() = default;

 private:
  friend class RequestQueue;
  friend class JobList;
  friend class ManagerAgent;
  Job* next_ = nullptr;  // owner: whichever list holds the job
  JobId id_{};           // given by the manager, to those that pass it
};

struct Recycler {
  void operator()(Job* job) const noexcept { job->recycle(); }
};
using JobPtr = std::unique_ptr<Job, Recycler>;

}  // namespace corelane::dispatch
