// TaskWorker: what runs the jobs of one admitted task, one after another, on the task's own thread. They come from its
// core's pool, where the manager brings them, and from the inlet, the connection that the task may have for itself. An
// agent: a test steps it by hand, in production loop() does.
//
// Threads: step() and loop() on the task's thread; seat() with the manager's lock; the rest says so.
// Invariant: the pool changes with both pools locked, the old one and the new one; while a job runs, too, when a core
// was lost. So whoever has locked the pool looks whether it still is the worker's (CorePool::Home).
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
#include "orb/dispatch/block_watch.h"
#include "orb/dispatch/ceilings.h"
#include "orb/dispatch/clock.h"
#include "orb/dispatch/current.h"
#include "orb/dispatch/histogram.h"
#include "orb/dispatch/inlet.h"
#include "orb/dispatch/job.h"
#include "orb/dispatch/miss_log.h"
#include "orb/dispatch/task_events.h"
#include "orb/os/deadline_class.h"
#include "orb/os/doorbell.h"
#include "orb/os/pi_mutex.h"
#include "orb/sched/lane.h"

namespace corelane::dispatch {

class CorePool;
class TaskWorker;
using WorkerPtr = std::shared_ptr<TaskWorker>;

// Where a worker's thread runs.
struct Seat {
  CoreId core = no_core;
  int native = 0;             // SCHED_FIFO level; 0 SCHED_OTHER
  os::DeadlineShare share{};  // SCHED_DEADLINE instead, unless it is none

  friend constexpr bool operator==(const Seat&, const Seat&) = default;
};

// A thread that runs TaskWorker::loop(). Its destructor joins: retire() the worker first.
class WorkerThread {
 public:
  virtual ~WorkerThread() = default;
  // False: not all of it was granted; the thread is as near to it as the system allows.
  virtual bool place(Seat seat) noexcept = 0;
  virtual bool real_time() const noexcept = 0;
  // Of a thread that ThreadMaker::take() gave: it runs from now on.
  virtual void begin() noexcept {}
  // Binds it anew to the core of the last place(): the kernel may have unbound it since.
  virtual void rebind() noexcept {}
};

// Counters of one task. Owner: the task's thread writes, but for what note_refused() counts; anyone reads; no order
// among them, so all is relaxed.
struct TaskStatistics {
  Histogram response;  // from the release to the end of run()
  MissLog late;        // has its own lock
  std::atomic<std::uint64_t> misses{0};
  std::atomic<std::uint64_t> overruns{0};
  std::atomic<std::uint64_t> refused{0};           // jobs that were turned away: mostly, while one waited
  std::atomic<std::uint64_t> oversleeps{0};        // suspended themselves for longer than S in all
  std::atomic<std::uint64_t> blocks{0};            // waited without saying so: see BlockWatch
  std::atomic<std::uint64_t> undeclared_locks{0};  // of a resource that the contract does not name
};

class TaskWorker final : public Agent, private JobControl {
 public:
  // `ceilings`: of what the contract uses. `strategy`: how its thread waits for its next job; see docs/scheduling.md.
  TaskWorker(TaskId task, const Contract& contract, CorePool& pool, const Clock& clock, CeilingsOfTask ceilings = {},
             os::WaitStrategy strategy = {});
  ~TaskWorker() override;

  // Runs the ready job, if there is one; else reads the inlet, and runs the job that comes of it.
  bool step(Time now) noexcept override;
  // When step() has something to do again without a wake-up and without bytes at the inlet. Owning thread only.
  Time wake_at(Time now) const noexcept { return std::min(wake_at_, inlet_.wake_at(now)); }
  // Steps until retire(); a job that is ready then still runs.
  void loop() noexcept;

  // Any thread.
  void wake() noexcept { bell_.ring(); }
  void retire() noexcept;
  // Its job has used up its budget: the thread runs below all tasks until the job ends, or promote(). With the pool's
  // lock; takes effect with settle().
  void demote() noexcept;
  // As before demote(), with settle(): what its job does now is in the place of the task's next one. False: it was not
  // demoted. With the pool's lock.
  bool promote() noexcept;
  // It has used more than its budget, under a contract that does not enforce that, on a core whose tasks have servers:
  // the thread runs behind the core's tasks until the job ends. With the pool's lock; takes effect with settle().
  void step_back() noexcept;
  // As before demote() and step_back(), with settle(). False: it was neither. With the pool's lock.
  bool restore() noexcept;
  // Applies what demote(), step_back() and restore() wrote down. Some system calls, which may wait for the kernel:
  // without the pool's lock. Any thread; twice or late does no harm.
  void settle() noexcept;
  // See WorkerThread::rebind(). Any thread.
  void rebind() noexcept;
  // The ceiling of a resource has changed, which its job may have locked. Any thread.
  void refresh_ceilings() noexcept;
  // Execution time of the job that runs, so far. Any thread. A system call.
  Duration used_by_job() const noexcept;
  // Whether its thread waits for something other than its core. Any thread. Some microseconds.
  bool is_asleep() const noexcept;
  // A job of it was turned away. Any thread.
  void note_refused(sched::RefusalCode why) noexcept;
  // Who hears of jobs that are late or exceed the contract; it outlives the thread. Before that starts.
  void tell_events_to(TaskEvents* events) noexcept { events_ = events; }
  // The task gets a connection of its own. See Inlet::give().
  bool give(const std::shared_ptr<JobSource>& source) noexcept;

  // The thread came to life (housekeeper), or is about to end (null).
  void attach(WorkerThread* thread) noexcept;
  // From now on the thread belongs there. With the manager's lock.
  void seat(Seat seat) noexcept;
  Seat seat() const noexcept;
  // The same, without a level where the thread has none: the system refused it, or the thread has a share instead. For
  // a report; any thread.
  Seat granted_seat() const noexcept;
  // Another level where it is. With the pool's lock, of a core by deadlines.
  void set_level(int native) noexcept;
  // The same, of the thread that calls: a higher one than it has it gets at once. False: it gets a lower one once it
  // calls settle().
  bool raise_level(int native) noexcept;

  TaskId task() const noexcept { return task_; }
  // Any thread; a report.
  bool has_own_connection() const noexcept { return inlet_.is_open(); }
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
  std::array<Entry, sched::max_waiting + 2> jobs_;  // accepted by the Lane and not running, oldest first
  std::size_t job_count_ = 0;
  bool ready_ = false;  // context_ names a job of jobs_ that may run
  JobContext context_{};
  Job* running_ = nullptr;
  JobId cancelled_{};  // the latest job that was, maybe before it began

  // Owner: the task's thread.
  Inlet inlet_;
  JobPtr at_the_door_;  // read, while the task was being moved
  Time wake_at_ = never;
  bool rests_ = false;   // the last step ran a job, and found nothing to follow it
  bool spins_ = false;   // it ran a job, and has not waited since: what it spins is charged once for each
  Duration spun_{};      // since its last job, at most; nothing of it was reading
  JobId current_{};      // that runs
  Time suspended_at_{};  // it
  Duration slept_{};     // by it, in suspensions that are over
  BlockWatch blocks_;

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
  // Written with the pool's lock, read by whoever places the thread. Not behind seat_mutex_: that is held while the
  // kernel is asked, and whoever writes them holds the lock of a core.
  std::atomic<bool> demoted_{false};
  std::atomic<bool> stepped_back_{false};
  // Not with the pool's lock, but on cores by deadlines, and where one fact is about more workers than AfterLock holds.
  mutable os::PiMutex seat_mutex_;
  Seat seat_;                                  // guarded by seat_mutex_
  WorkerThread* thread_ = nullptr;             // guarded by seat_mutex_
  int placed_at_ = 0;                          // guarded by seat_mutex_: the level that was asked for last
  bool misplaced_ = false;                     // guarded by seat_mutex_: the system refused its seat
  std::array<std::uint8_t, max_uses> held_{};  // guarded by seat_mutex_: how often its job has locked what it uses
};

}  // namespace corelane::dispatch
