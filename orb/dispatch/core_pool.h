// CorePool: one leased core: its Lane, and the workers of the tasks that are there.
//
// The Lane is stepped under a short priority-inheriting lock by whoever learns a fact: the manager when a job arrives,
// the task's own thread when a job comes on the task's own connection, when one ends, or when an early job's time has
// come. So a job goes manager -> task thread, or straight to the thread, and nothing goes back: no completion queue, no
// timer thread, and the Lane sees each fact when it happens, as it does in the simulator. (A Lane stepped by the
// manager alone would cost one more wake-up per job.) What is ready runs in the order of the threads' SCHED_FIFO
// levels: the kernel is the preemptive platform that the Lane relies on. On a core by deadlines the levels follow the
// deadlines of the jobs under way, and of those whose time has yet to come (sched::DeadlineLevels), so the same
// platform runs the earliest deadline first.
//
// Threads: whoever holds the manager's lock, and the threads of this core's tasks. Two pools are locked at once in
// move() alone, so that a task is always in one of them, with the job that it runs.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/dispatch/budget_alarm.h"
#include "orb/dispatch/idle_watch.h"
#include "orb/dispatch/inbox.h"
#include "orb/dispatch/job.h"
#include "orb/dispatch/recorded_lane.h"
#include "orb/dispatch/request_queue.h"
#include "orb/os/pi_mutex.h"
#include "orb/sched/commands.h"
#include "orb/sched/deadline_levels.h"
#include "orb/sched/lane.h"
#include "orb/sched/priority.h"
#include "orb/sched/task.h"

namespace corelane::dispatch {

class AfterLock;
class TaskWorker;
using WorkerPtr = std::shared_ptr<TaskWorker>;

class CorePool {
 public:
  struct Assignment {
    JobPtr job;
    JobContext context{};
  };
  struct Refused {
    JobPtr job;  // null: it was taken
    sched::Refusal reason{};
  };
  struct Ended {
    Time at;
    JobId job;
    Duration used{};       // execution
    Duration overslept{};  // in suspensions, of a job that declared less; else zero
    Duration waited{};     // without saying so
  };
  // What became of a job that came on the task's own connection.
  enum class Own : std::uint8_t { taken, refused, elsewhere };

  // `inbox` is the manager's: vacated tasks are reported there. `ring`: where what the Lane learns and says is
  // recorded. `overshoot`: by so much the timers of early jobs are set late, since every fact of the core releases what
  // is due (docs/servers.md, firm timers).
  CorePool(CoreId core, std::size_t max_tasks, NoteInbox& inbox, RecorderRing* ring = nullptr, Duration overshoot = {});

  // From now on the core runs by deadlines: its workers' threads get their levels here, by the deadlines of their jobs,
  // and none of them reads a connection of its own, since what it reads has no deadline yet. Before the first task.
  void use_deadlines(sched::NativeRange natives);
  // From now on the platform itself orders the core's jobs by deadlines, with a server for each task (Seat::share): a
  // thread that wakes has its place. Before the first task.
  void use_servers();
  sched::CoreOrder order() const noexcept { return order_; }  // any thread
  // Whether the thread of a task may read its own connection. Any thread.
  bool may_read_own() const noexcept { return order_ != sched::CoreOrder::deadline; }

  // As sched::Lane's. Before the first task.
  void charge_overruns() { lane_.charge_overruns(); }

  // With the manager's lock.
  bool add(const WorkerPtr& worker, Priority priority) noexcept;
  // The same, but its jobs wait for an idle instant of the core.
  void join(const WorkerPtr& worker, Priority priority, Time now) noexcept;
  void reprioritize(TaskId task, Priority priority) noexcept;
  [[nodiscard]] Refused arrive(TaskWorker& worker, JobPtr job, JobId id, Time at) noexcept;
  void vacate(TaskId task, Time now) noexcept;
  // The task leaves; its waiting jobs come back.
  [[nodiscard]] JobList dismiss(TaskWorker& worker, Time now) noexcept;
  // The task goes from here to another pool, with the job that it may be running (its core was lost); or it stays, as
  // one that was vacated in vain. Its thread's seat is the caller's business.
  void move(const WorkerPtr& worker, CorePool& to, Priority priority, Time now) noexcept;
  // The core is lost, and the tasks that are left here must end. Nothing is promised to them any more, and the system
  // may let their threads run anywhere: the jobs that they run end below all admitted tasks.
  void strand() noexcept;
  // The core is back. False: something of a task that had to end still runs there; ask again later.
  bool reopen() noexcept;
  // Early jobs of a task so far.
  std::uint64_t early_jobs(TaskId task) const noexcept;
  // Early jobs that only their timer released.
  std::uint64_t timer_releases() const noexcept;

  // The worker's thread only. Fills `next` when a job may run now, and gives the time from which to ask again.
  Time take(TaskWorker& worker, Time now, Assignment& next) noexcept;
  // A job of the task's own connection arrived at `at`, and is found in a step that began at `now`. taken: it is in
  // `next` when it may run at once. refused: it stays with the caller, with the reason. elsewhere: the task has just
  // been moved, and its worker is being woken.
  [[nodiscard]] Own arrive_own(TaskWorker& worker, JobPtr& job, Time at, Time now, Assignment& next,
                               sched::Refusal& reason) noexcept;

  // The worker's thread only, in whichever pool its task is. Gives the time from which to ask take() again.
  static Time finish(TaskWorker& worker, const Ended& job) noexcept;
  // The job that the worker runs waits for something else than its core, and goes on.
  static void suspend(TaskWorker& worker, JobId job, Time at) noexcept;
  static void resume(TaskWorker& worker, JobId job, Time at) noexcept;
  // Whether a job of its task is under way or waits.
  static bool has_jobs(const TaskWorker& worker) noexcept;
  // Jobs of its task behind the one that it runs.
  static std::size_t waiting_jobs(const TaskWorker& worker) noexcept;

  // Budgets that the contract enforces, or that are charged, are watched by this alarm, or by none. Any thread.
  void watch_budgets(BudgetAlarm* alarm) noexcept;
  // The alarm went off: demotes or cancels the job that is watched if that has used up its budget; or if it sleeps
  // instead, under a contract without suspension, since what it does later would come on top of what the analysis
  // counts. And gives jobs their levels again that go on in the places of the next ones. Any thread.
  void check_budget(Time now) noexcept;

  // Early jobs start before their time where `watch` finds the core idle; null: not any more. `share`: of the core,
  // that all jobs may use together. Any thread. The watch outlives the core's other threads, which may still tell it.
  void watch_idleness(IdleWatch* watch, sched::Ppm share) noexcept;
  // Whether an early job waits, and nothing else that the lane knows of. Any thread.
  bool has_early_jobs(Time now) const noexcept;
  // The core is idle, and nobody else's: early jobs start, as far as the core's share goes. They are beyond what was
  // admitted, so a caller who never waits would fill the core, and the kernel takes 50 ms of each second from a full
  // one. Gives the time from which to ask again; `never`: the watch will be told. Thread: the watch's.
  Time start_early(Time now) noexcept;
  // How many that were. Any thread.
  std::uint64_t early_starts() const noexcept;

  CoreId core() const noexcept { return core_; }

 private:
  class Home;
  // The thread of the job that the alarm was set for, as it was a moment ago.
  struct Looked {
    WorkerPtr worker;  // null: no job is watched
    JobId job{};
    Duration budget{};
    Duration left{};      // of it
    bool asleep = false;  // and did not say so
  };
  const WorkerPtr* worker_of(TaskId task) const noexcept;
  const sched::LaneTask* lane_task(TaskId task) const noexcept;
  void carry_out(std::span<const sched::Command> commands, AfterLock& after, JobList* cancelled = nullptr) noexcept;
  sched::LaneTask give_away(const TaskWorker& worker) noexcept;
  void receive(const WorkerPtr& worker, const sched::LaneTask& task, Time now, AfterLock& after) noexcept;
  Time end(TaskWorker& worker, const Ended& job, AfterLock& after) noexcept;
  void make_ready(const sched::Run& run, AfterLock& after) noexcept;
  void await_early_job(TaskId task, AfterLock& after) noexcept;
  void place_early_job(const TaskWorker& worker, AfterLock& after) noexcept;
  void place(const TaskWorker& worker, JobId job, Time deadline, AfterLock& after) noexcept;
  void give_place_back(TaskId task) noexcept;
  [[nodiscard]] Refused accept(TaskWorker& worker, JobPtr job, JobId id, Time at, AfterLock& after) noexcept;
  static bool has_early_job(const TaskWorker& worker, const sched::LaneTask& task) noexcept;
  Time next_look(const TaskWorker& worker) const noexcept;
  void assign(TaskWorker& worker, Time now, Assignment& next) noexcept;
  static JobPtr remove(TaskWorker& worker, JobId id) noexcept;
  Looked look_at_watched(Time now) const noexcept;
  bool has_waited(const Looked& looked, Time now) noexcept;
  void look_again(const Looked& looked, Time began) noexcept;
  void tell_of_early_jobs(Time now, AfterLock& after) const noexcept;
  Duration early_work(Time now) const noexcept;
  sched::Ppm unpromised() const noexcept;
  void watch(const sched::Watch& watched) noexcept;
  void let_return(Time now, AfterLock& after) noexcept;
  void note_returns() noexcept;
  void set_alarm() noexcept;
  sched::Elapsed elapsed(Time now) const noexcept;
  void demote(TaskId task, JobId job, bool cancel, AfterLock& after) noexcept;

  // Constant.
  const CoreId core_;
  NoteInbox& inbox_;
  const Duration overshoot_;
  sched::CoreOrder order_ = sched::CoreOrder::priority;  // from the first task on

  mutable os::PiMutex mutex_;
  // Guarded by mutex_.
  RecordedLane lane_;
  BudgetAlarm* alarm_ = nullptr;
  sched::Watch watched_;
  Time look_at_ = never;     // the alarm is set for it: what the watched job has used ...
  Time return_at_ = never;   // ... and this: a demoted job is to have its level again
  bool may_return_ = false;  // there may be such a job
  bool stranded_ = false;    // strand() was called: no thread has its level again
  struct Unused {
    JobId job{};
    Duration left{};  // of its budget
    Time since{};     // the first look that found so much
  };
  Unused unused_;                                // of a job that has hardly anything left
  std::optional<sched::DeadlineLevels> levels_;  // by deadlines
  sched::NativeRange natives_;
  std::uint64_t timer_releases_ = 0;
  IdleWatch* idle_watch_ = nullptr;
  sched::Ppm share_ = 0;
  Time early_from_{};  // those that started early are paid for by then
  std::uint64_t early_starts_ = 0;
  JobId ending_{};                  // the job that finish() is about: too late to demote it
  std::vector<WorkerPtr> workers_;  // shared: a wake-up may still be on its way to a worker that has just left
};

}  // namespace corelane::dispatch
