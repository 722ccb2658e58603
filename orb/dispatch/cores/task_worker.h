// TaskWorker runs the jobs of one admitted task, one after another, on the task's own thread. Jobs come from its core's
// pool, where the manager puts them. They also come from its DedicatedReceiver, which reads the connection that the
// task may have for itself. TaskWorker is an agent: a test steps it by hand; in production loop() does.
//
// Its parts have owners of their own: TaskJobs is the pool's, ThreadPlacer places the thread, JobCharge says what a job
// is charged, and TaskAccount counts.
//
// Threads: step() and loop(): the task's thread; the other functions say so. Invariant: the pool changes only with both
// pools locked, the old one and the new one. When a core was lost, it may change while a job runs. So a thread that has
// locked the pool checks whether it is still the worker's (CorePool::Home).
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>

#include "orb/base/agent.h"
#include "orb/base/contract.h"
#include "orb/base/ids.h"
#include "orb/dispatch/budgets/blocking_detector.h"
#include "orb/dispatch/clock.h"
#include "orb/dispatch/current.h"
#include "orb/dispatch/job.h"
#include "orb/dispatch/resources/ceilings.h"
#include "orb/dispatch/task_events.h"
#include "orb/dispatch/tasks/dedicated_receiver.h"
#include "orb/dispatch/tasks/job_charge.h"
#include "orb/dispatch/tasks/task_account.h"
#include "orb/dispatch/tasks/task_jobs.h"
#include "orb/dispatch/tasks/thread_placement.h"
#include "orb/dispatch/tasks/thread_placer.h"
#include "orb/os/wait/doorbell.h"

namespace corelane::dispatch {

class CorePool;
class TaskWorker;
using WorkerPtr = std::shared_ptr<TaskWorker>;

class TaskWorker final : public Agent, private JobControl {
 public:
  // `ceilings`: those of the resources that the contract uses. `strategy`: how the thread waits for its next job; see
  // docs/scheduling.md.
  TaskWorker(TaskId task, const Contract& contract, CorePool& pool, const Clock& clock, CeilingsOfTask ceilings = {},
             os::WaitStrategy strategy = {});

  // Runs the ready job, if there is one. Otherwise reads its connection (DedicatedReceiver), and runs the job that
  // comes of it.
  bool step(Time now) noexcept override;
  // Returns when step() has something to do again without a wake-up and without bytes on the connection. Owning thread
  // only.
  Time wake_at(Time now) const noexcept { return std::min(wake_at_, receiver_.wake_at(now)); }
  // Steps until retire(). A job that is ready then still runs.
  void loop() noexcept;

  // Any thread.
  void wake() noexcept {
    // PAIR worker.rung: release here -> acquire in has_rung(). An exchange, so that several rings all synchronize.
    (void)rung_.exchange(true, std::memory_order_release);
    bell_.ring();
  }
  void retire() noexcept;
  // Returns the execution time so far of the job that runs. Any thread. Makes a system call.
  Duration used_by_job() const noexcept { return charge_.used_by_job(); }
  // Returns the kernel's number of the thread; 0: it has not started. Any thread.
  pid_t thread() const noexcept { return tid_.load(std::memory_order_relaxed); }  // relaxed: a number for a report
  // Returns whether the thread waits for something other than its core. Any thread. Takes some microseconds.
  bool is_asleep() const noexcept;
  // Counts a job of the task that was turned away. Any thread.
  void note_refused(sched::RefusalCode why) noexcept { account_.note_refused(why); }
  // Sets the receiver of events about jobs that are late or exceed the contract. It must outlive the thread. Call it
  // before the thread starts.
  void tell_events_to(TaskEvents* events) noexcept { account_.tell_events_to(events); }
  // Gives the task a connection of its own. See DedicatedReceiver::give().
  bool give(const std::shared_ptr<JobSource>& source) noexcept;

  // The part that places the thread says which threads may call it.
  ThreadPlacer& placer() noexcept { return placer_; }
  const ThreadPlacer& placer() const noexcept { return placer_; }

  TaskId task() const noexcept { return task_; }
  // For a report; any thread.
  bool has_dedicated_connection() const noexcept { return receiver_.is_open(); }
  const TaskStatistics& statistics() const noexcept { return account_.statistics(); }

 private:
  friend class CoreJobs;
  friend class CorePool;

  bool enter(ResourceId resource) noexcept override;
  void leave(ResourceId resource) noexcept override;
  std::size_t waiting_jobs() const noexcept override;
  void suspend(WaitsFor what) noexcept override;
  void resume(WaitsFor what) noexcept override;

  struct Assignment;
  bool has_rung() noexcept;
  bool read(CorePool& pool, Time now, Assignment& next) noexcept;
  void run(Assignment& next, Time begun) noexcept;
  void wait(Time now) noexcept;
  void wait_by(os::WaitStrategy strategy, Time now) noexcept;
  void charge_reading(JobSource::Found found, Time now) noexcept;

  // Constant.
  const TaskId task_;
  const Contract contract_;
  const Clock clock_;
  const os::WaitStrategy strategy_;

  TaskJobs jobs_;  // guarded by the mutex of *pool_

  // Owner: the task's thread.
  DedicatedReceiver receiver_;
  JobPtr pending_job_;    // was read while the task was being moved
  Time wake_at_ = never;  // never: the pool has no job for the worker, unless it rings
  bool rests_ = false;    // the last step ran a job, and found no other to follow it
  bool spins_ = false;    // it ran a job, and has not waited since: spinning is charged once for each job
  JobId current_{};       // the job that runs
  Time suspended_at_{};   // when that job was suspended
  Duration slept_{};      // that job's suspensions that are over
  BlockingDetector blocks_;

  // Shared.
  JobCharge charge_;               // as it says
  TaskAccount account_;            // as it says
  ThreadPlacer placer_;            // as it says
  std::atomic<pid_t> tid_{0};      // set in loop()
  std::atomic<bool> stop_{false};  // its job is cancelled
  std::atomic<CorePool*> pool_;
  std::atomic<bool> retired_{false};
  std::atomic<bool> rung_{true};  // the pool may have a job for the worker that it does not know of
  os::Doorbell bell_;
};

}  // namespace corelane::dispatch
