// TaskWorker runs the jobs of one admitted task, one after another, on the task's own thread. Jobs come from its core's
// pool, where the manager puts them. They also come from its DedicatedReceiver, which reads the connection that the
// task may have for itself. TaskWorker is an agent: a test steps it by hand; in production loop() does.
//
// Threads: step() and loop(): the task's thread; placement(): with the manager's lock; the other functions say so.
// Invariant: the pool changes only with both pools locked, the old one and the new one. When a core was lost, it may
// change while a job runs. So a thread that has locked the pool checks whether it is still the worker's
// (CorePool::Home).
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "orb/base/agent.h"
#include "orb/base/contract.h"
#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "orb/dispatch/clock.h"
#include "orb/dispatch/cores/blocking_detector.h"
#include "orb/dispatch/cores/dedicated_receiver.h"
#include "orb/dispatch/current.h"
#include "orb/dispatch/job.h"
#include "orb/dispatch/miss_log.h"
#include "orb/dispatch/resources/ceilings.h"
#include "orb/dispatch/task_events.h"
#include "orb/dispatch/telemetry/histogram.h"
#include "orb/os/pi_mutex.h"
#include "orb/os/threads/deadline_class.h"
#include "orb/os/wait/doorbell.h"
#include "orb/sched/schedulers/core_scheduler.h"

namespace corelane::dispatch {

class CorePool;
class TaskWorker;
using WorkerPtr = std::shared_ptr<TaskWorker>;

// ThreadPlacement is where a worker's thread runs: its core and its scheduling class.
struct ThreadPlacement {
  CoreId core = no_core;
  int native = 0;             // SCHED_FIFO level; 0: SCHED_OTHER
  os::DeadlineShare share{};  // if set, SCHED_DEADLINE instead

  friend constexpr bool operator==(const ThreadPlacement&, const ThreadPlacement&) = default;
};

// WorkerThread is a thread that runs TaskWorker::loop(). Its destructor joins: call the worker's retire() first.
class WorkerThread {
 public:
  virtual ~WorkerThread() = default;
  // Moves the thread. False: not all of it was granted; the thread is as near to the placement as the system allows.
  virtual bool place(ThreadPlacement placement) noexcept = 0;
  virtual bool real_time() const noexcept = 0;
  // Starts a thread that ThreadMaker::take() returned.
  virtual void begin() noexcept {}
  // Binds the thread again to the core of the last place(): the kernel may have unbound it since.
  virtual void rebind() noexcept {}
};

// TaskStatistics are the counters of one task. Owner: the task's thread writes, except for what note_refused() counts;
// any thread reads. There is no order among them, so all accesses are relaxed.
struct TaskStatistics {
  Histogram response;  // from the release to the end of run()
  MissLog late;        // has its own lock
  std::atomic<std::uint64_t> misses{0};
  std::atomic<std::uint64_t> overruns{0};
  std::atomic<std::uint64_t> refused{0};           // jobs that were turned away, mostly while one waited
  std::atomic<std::uint64_t> oversleeps{0};        // jobs that suspended themselves for longer than S in all
  std::atomic<std::uint64_t> blocks{0};            // jobs that waited without declaring it: see BlockingDetector
  std::atomic<std::uint64_t> undeclared_locks{0};  // locks of resources that the contract does not name
};

class TaskWorker final : public Agent, private JobControl {
 public:
  // `ceilings`: those of the resources that the contract uses. `strategy`: how the thread waits for its next job; see
  // docs/scheduling.md.
  TaskWorker(TaskId task, const Contract& contract, CorePool& pool, const Clock& clock, CeilingsOfTask ceilings = {},
             os::WaitStrategy strategy = {});
  ~TaskWorker() override;

  // Runs the ready job, if there is one. Otherwise reads its connection (DedicatedReceiver), and runs the job that
  // comes of it.
  bool step(Time now) noexcept override;
  // Returns when step() has something to do again without a wake-up and without bytes on the connection. Owning thread
  // only.
  Time wake_at(Time now) const noexcept { return std::min(wake_at_, receiver_.wake_at(now)); }
  // Steps until retire(). A job that is ready then still runs.
  void loop() noexcept;

  // Any thread.
  void wake() noexcept { bell_.ring(); }
  void retire() noexcept;
  // Puts the thread below all tasks until the job ends, or promote(): the job has used up its budget. With the pool's
  // lock; takes effect with settle().
  void demote() noexcept;
  // Undoes demote(); takes effect with settle(). What the job does from now on takes the place of the task's next job.
  // False: it was not demoted. With the pool's lock.
  bool promote() noexcept;
  // Puts the thread behind the core's tasks until the job ends. The job has used more than its budget, its contract
  // does not enforce the budget, and the core's tasks have servers. With the pool's lock; takes effect with settle().
  void step_back() noexcept;
  // Undoes demote() and step_back(); takes effect with settle(). False: neither was in effect. With the pool's lock.
  bool restore() noexcept;
  // Applies what demote(), step_back() and restore() noted. Makes some system calls, which may wait for the kernel:
  // call it without the pool's lock. Any thread. A call that is repeated or late does no harm.
  void settle() noexcept;
  // See WorkerThread::rebind(). Any thread.
  void rebind() noexcept;
  // Applies a changed ceiling of a resource that the job may have locked. Any thread.
  void refresh_ceilings() noexcept;
  // Returns the execution time so far of the job that runs. Any thread. Makes a system call.
  Duration used_by_job() const noexcept;
  // Returns whether the thread waits for something other than its core. Any thread. Takes some microseconds.
  bool is_asleep() const noexcept;
  // Counts a job of the task that was turned away. Any thread.
  void note_refused(sched::RefusalCode why) noexcept;
  // Sets the receiver of events about jobs that are late or exceed the contract. It must outlive the thread. Call it
  // before the thread starts.
  void tell_events_to(TaskEvents* events) noexcept { events_ = events; }
  // Gives the task a connection of its own. See DedicatedReceiver::give().
  bool give(const std::shared_ptr<JobSource>& source) noexcept;

  // Sets the thread when it has started (manager or housekeeper), or null when it is about to end.
  void attach(WorkerThread* thread) noexcept;
  // Sets where the thread belongs from now on. With the manager's lock.
  void placement(ThreadPlacement placement) noexcept;
  ThreadPlacement placement() const noexcept;
  // Returns the same, but level 0 if the thread has no level: the system refused it, or the thread has a share instead.
  // For a report; any thread.
  ThreadPlacement granted_placement() const noexcept;
  // Sets another level on the same core. With the pool's lock, of a core by deadlines.
  void set_level(int native) noexcept;
  // Does the same for the calling thread. A level above the one that it has takes effect at once. False: the level is
  // lower, and takes effect when the thread calls settle().
  bool raise_level(int native) noexcept;

  TaskId task() const noexcept { return task_; }
  // For a report; any thread.
  bool has_dedicated_connection() const noexcept { return receiver_.is_open(); }
  const TaskStatistics& statistics() const noexcept { return statistics_; }

 private:
  friend class CorePool;
  struct Entry {
    JobId id{};
    JobPtr job;
  };

  bool enter(ResourceId resource) noexcept override;
  void leave(ResourceId resource) noexcept override;
  std::size_t waiting_jobs() const noexcept override;
  void suspend(WaitsFor what) noexcept override;
  void resume(WaitsFor what) noexcept override;
  std::size_t use_index(ResourceId resource) const noexcept;
  int native() const noexcept;

  static constexpr Duration unknown{-1};
  struct Assignment;
  bool read(CorePool& pool, Time now, Assignment& next) noexcept;
  void run(Assignment& next, Time begun) noexcept;
  void wait(Time now) noexcept;
  void wait_by(os::WaitStrategy strategy, Time now) noexcept;
  Duration begin_charge() noexcept;
  Duration charged_from() noexcept;
  void charge_reading(JobSource::Found found, Time now) noexcept;
  void place() noexcept;
  bool is_served() const noexcept;
  void take_share() noexcept;
  bool has_overslept() const noexcept { return slept_ > contract_.suspension; }
  void account(const JobContext& context, Time end, Duration used) noexcept;
  void tell(TaskEventKind kind, const JobContext& context, Time end, Duration used) noexcept;

  // Constant.
  const TaskId task_;
  const Contract contract_;
  const Clock clock_;
  const CeilingsOfTask ceilings_;
  const os::WaitStrategy strategy_;
  TaskEvents* events_ = nullptr;

  // Guarded by the mutex of *pool_.
  std::array<Entry, sched::max_waiting + 2> jobs_;  // accepted by the CoreScheduler and not running, oldest first
  std::size_t job_count_ = 0;
  bool ready_ = false;  // context_ names a job of jobs_ that may run
  JobContext context_{};
  Job* running_ = nullptr;
  JobId cancelled_{};  // the latest job that was cancelled, maybe before it began

  // Owner: the task's thread.
  DedicatedReceiver receiver_;
  JobPtr pending_job_;  // was read while the task was being moved
  Time wake_at_ = never;
  bool rests_ = false;   // the last step ran a job, and found no other to follow it
  bool spins_ = false;   // it ran a job, and has not waited since: spinning is charged once for each job
  Duration spun_{};      // at most so much since its last job; none of it was reading
  JobId current_{};      // the job that runs
  Time suspended_at_{};  // when that job was suspended
  Duration slept_{};     // that job's suspensions that are over
  BlockingDetector blocks_;

  // Shared.
  // The thread's execution time when its last job ended; negative: not known. Written by the task's thread.
  std::atomic<Duration> used_before_{unknown};
  std::atomic<os::CpuClock> cpu_clock_{};  // the thread's own; set in loop()
  std::atomic<pid_t> tid_{0};              // set in loop()
  std::atomic<bool> stop_{false};          // its job is cancelled
  std::atomic<CorePool*> pool_;
  std::atomic<bool> retired_{false};
  os::Doorbell bell_;
  TaskStatistics statistics_;
  // Written with the pool's lock, read by threads that place the worker's thread. Not guarded by placement_mutex_: that
  // is held while the kernel is asked, and a thread that writes them holds the lock of a core.
  std::atomic<bool> demoted_{false};
  std::atomic<bool> stepped_back_{false};
  // Not taken with the pool's lock, except on cores by deadlines, and if one fact concerns more workers than
  // DeferredWakeups holds.
  mutable os::PiMutex placement_mutex_;
  ThreadPlacement placement_;                  // guarded by placement_mutex_
  WorkerThread* thread_ = nullptr;             // guarded by placement_mutex_
  int placed_at_ = 0;                          // guarded by placement_mutex_: the latest level that was asked for
  bool misplaced_ = false;                     // guarded by placement_mutex_: the system refused its placement
  std::array<std::uint8_t, max_uses> held_{};  // guarded by placement_mutex_: how often its job has locked what it uses
};

}  // namespace corelane::dispatch
