// CoreScheduler schedules the jobs of one core, as a pure state machine. It decides which job of each admitted task may
// run, when it counts as released, and up to which budget. Jobs of one task run one after another in the order of their
// arrival. Jobs of different tasks are ordered by the platform, which is preemptive fixed priority (the kernel's
// SCHED_FIFO, or the simulator's virtual core).
//
// Release rule (GCRA): a job that arrives at a has the nominal release n = max(a, TAT) and is eligible at e = max(a, n
// - J). Then TAT = n + T. Since e_k >= n_k - J and n_k >= n_0 + k T >= e_0 + k T, any k + 1 eligible times span at
// least k T - J. So a window of length w contains at most ceil((w + J) / T) of them. This is the number that the
// analysis charges, whatever the caller does.
//
// Early jobs: if the core scheduler allows it, an early job may start at an idle instant t (every job that was eligible
// before t has ended). For this job n = e = t, and TAT = t + T. The analysis looks at one busy period, and t starts a
// new one, so nothing that ran before t affects what runs after it. From t on the eligible times are t, then t + T - J
// or later, and so on, so the count above holds again. (Sun & Liu 1996 call this the second rule of the release guard.
// The count would also hold if TAT stayed as it was. But a caller with a fast clock would then get further and further
// ahead of TAT. It would have to wait for all of that time when the core becomes busy.)
//
// Overruns: a job overruns if it uses more than its budget C or suspends itself for longer than its S. The contract
// says what happens then:
// - `report`: the overrun is counted. Other jobs may be late by the excess, unless the core scheduler charges overruns
//   (see below).
// - `demote`: the rest of the job runs below all admitted tasks. So at its own priority the job has used at most C, and
//   it does not count for idle instants.
// - `cancel`: as `demote`, and the job's request is answered at once.
// The next job of the task starts after the demoted job has ended. The waiting jobs are spaced again from that end on.
// Releasing them back to back would be denser than the rule allows.
//
// A CoreScheduler that charges overruns treats `report` like `demote`, but the rest of the job takes the place of the
// task's next job. It gets its priority back when the next job is eligible, or at TAT + J if no next job waits. After
// an overrun it then has the C of that place; what it executed below the others in the meantime is subtracted from this
// C. After a suspension that was too long it has no new C, but only the rest of its own. In both cases it has the S of
// that place. If some budget of the place is left when the rest ends, a waiting next job gets it in the same place.
// Otherwise the place is used up, and later jobs move back by one place. So under each policy the task never demands
// more at its priority than its contract says, except during the time until it is stopped. It pays for its own excess.
//
// Threads: owned by one thread at a time. No clock, no thread. Nothing allocates after the constructor. Bound: the
// number of tasks, or the waiting jobs of one task, for every loop.
//
// The folder orb/sched/schedulers decides for one core which job runs next.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/ids.h"
#include "orb/sched/commands.h"
#include "orb/sched/facts.h"

namespace corelane::sched {

// The number of jobs of one task that may wait beside the running one; one of them may be early. Contracts whose
// deadline spans several periods need more than one. Contracts whose deadline spans more periods than this are refused.
inline constexpr std::size_t max_waiting = 8;

struct WaitingJob {
  JobId job;
  Time released;  // the response time and the deadline count from here
  Time nominal;   // n
  Time eligible;  // e: the job starts at e or later
};

// The state of one task in a CoreScheduler. The whole state moves with the task.
struct ScheduledTask {
  TaskId id = no_task;
  Contract contract{};
  Priority priority{};
  Time tat{};       // theoretical arrival time of the next job
  JobId running{};  // the running job; valid while busy
  bool busy = false;
  bool started = false;   // the task had a job, so `tat` is valid
  bool held = false;      // vacated: starts no job, waits for its Move
  bool joining = false;   // starts no job before the next idle instant
  bool vacating = false;  // vacate() or dismiss() waits for the idle instant
  bool leaving = false;   // dismissed: the task has left

  // State of the running job.
  bool demoted = false;
  bool overran = false;  // the overrun is counted
  Duration granted{};    // execution time until it overruns (again)
  bool borrows = false;  // the rest of the job runs in the place of the next job
  Time place{};          // the nominal release of that place
  // The next job runs in the rest of that place; `granted` is what is left of it.
  bool shares = false;
  bool suspended = false;  // since suspended_at
  Time suspended_at{};
  Duration slept{};        // total length of ended suspensions in this place
  std::int64_t order = 0;  // order of service within a level: by the time of becoming ready

  std::array<WaitingJob, max_waiting> waiting{};
  std::size_t waiting_count = 0;  // waiting[0] is the oldest
  std::uint64_t jobs = 0;
  std::uint64_t deferred = 0;
  std::uint64_t overruns = 0;

  // Returns whether the task has a job that the analysis counts.
  bool pending() const noexcept { return busy && !demoted; }
  bool can_start() const noexcept { return !busy && !held && !joining && waiting_count > 0; }
  // Returns whether the rest of the task's job waits for the place of the next job.
  bool postponed() const noexcept { return busy && demoted && contract.on_overrun == OverrunPolicy::report; }
  // Returns the time from which on the rest may run there: when the next job is eligible, or the latest time at which
  // it could have been.
  Time next_place() const noexcept { return waiting_count > 0 ? waiting[0].eligible : tat + contract.jitter; }
  // Returns the last instant of the suspension that the contract allows.
  Time sleeps_until() const noexcept { return suspended_at + (contract.suspension - slept); }
};

// Remembers which job is watched. A Watch is new if it differs from the last one, or if the last one is spent because
// an Overran came.
class Watched {
 public:
  void spend(JobId job) noexcept {
    if (last_watch_.job == job) spent_ = true;
  }
  // Returns whether `wanted` is new. If so, the caller must send it.
  bool note(const Watch& wanted) noexcept {
    const bool same = last_watch_.job == wanted.job && last_watch_.budget == wanted.budget;
    last_watch_ = wanted;
    return std::exchange(spent_, false) || !same;
  }

 private:
  Watch last_watch_{};
  bool spent_ = false;
};

class CoreScheduler {
 public:
  // `timer`: the only timer of this CoreScheduler, which its Arm commands name.
  CoreScheduler(CoreId core, std::size_t max_tasks, TimerId timer);

  // Sets whether early jobs may start at idle instants; at first they may not. Allow it only if the idle instants of
  // the CoreScheduler are those of the core. For that, all other load that the analysis charges to the core must run
  // above every task of this CoreScheduler. Tasks of another process, or a server, may run below a task of this
  // CoreScheduler. Then an early job would add to load that is still pending there.
  void allow_early(bool allowed) noexcept { early_allowed_ = allowed; }

  // Charges overruns under `report` to their own task. Call it before the first task is added.
  void charge_overruns() noexcept { charges_overruns_ = true; }

  // Adds a task. Returns false if the task is already here or the CoreScheduler is full, which is an error of the
  // caller.
  bool add(TaskId task, const Contract& contract, Priority priority) noexcept;
  // Adds a task whose first job starts at the next idle instant or later, when no demoted job may hold a lock. The
  // CoreScheduler then sends Joined, perhaps at once. Does nothing if add() would fail.
  std::span<const Command> join(Time now, TaskId task, const Contract& contract, Priority priority) noexcept;
  // Changes the priority of the task for jobs that start from now on. The runtime changes the priority of the thread.
  // If the result is false, the thread must keep its priority: its job is demoted, or the task is not here.
  bool reprioritize(TaskId task, Priority priority) noexcept;

  // Processes a fact: Arrived, Finished, Overran, Suspended, Resumed or Elapsed. Other facts are ignored. Arrived must
  // be for a task of this CoreScheduler; its `at` is the arrival time, which may be before the last fact. The commands
  // are valid until the next call of any member: Run, Defer, Refuse, Demote, Cancel, Arm, Watch, ReportVacated, Joined.
  // A Run for a running job, which gets its priority back, comes before a Run for another job. Each group is sorted by
  // descending priority.
  std::span<const Command> decide(const Fact& fact) noexcept;

  // Prepares a Move. From the next idle instant on, no job of the task starts here. ReportVacated follows at that
  // instant, perhaps at once, but not before a demoted job of the task has ended.
  std::span<const Command> vacate(Time now, TaskId task) noexcept;
  // Removes the task: its waiting jobs are cancelled and the running job ends. ReportVacated follows at the idle
  // instant.
  std::span<const Command> dismiss(Time now, TaskId task) noexcept;
  // take() removes a vacated task together with its waiting jobs. It returns a task with the id no_task if the task is
  // not here. put() adds the task to another CoreScheduler, or to the same one if the move was called off. It may start
  // a job. Set the priority of the task before put(). A running job continues; this happens if its core was lost but
  // its thread was not. take() gives no commands. If the job was the last pending one, the core is idle from then on:
  // tell the CoreScheduler the time (Elapsed), so that departing tasks leave.
  ScheduledTask take(TaskId task) noexcept;
  std::span<const Command> put(Time now, const ScheduledTask& task) noexcept;

  // Returns the execution time after which the running job overruns (again). Returns Duration::max() if the job does
  // not run or is demoted.
  Duration granted(TaskId task, JobId job) const noexcept;

  CoreId core() const noexcept { return core_; }
  // Returns whether `now` is an idle instant: no admitted job is pending that was eligible before.
  bool idle(Time now) const noexcept;
  std::span<const ScheduledTask> tasks() const noexcept { return tasks_; }

 private:
  ScheduledTask* find(TaskId task) noexcept;
  ScheduledTask* running(TaskId task, JobId job) noexcept;
  void arrive(const Arrived& fact) noexcept;
  void finish(const Finished& fact) noexcept;
  void overran(const Overran& fact) noexcept;
  void overrun(ScheduledTask& task, Time now) noexcept;
  static void use_up_place(ScheduledTask& task, Time now) noexcept;
  void suspend(const Suspended& fact) noexcept;
  void resume(const Resumed& fact) noexcept;
  void end_long_sleeps(Time now) noexcept;
  void let_return(Time now) noexcept;
  void start_jobs(Time now, bool early_too) noexcept;
  void start(ScheduledTask& task) noexcept;
  void report_vacated() noexcept;
  void let_join(Time now) noexcept;
  bool may_hold_lock() const noexcept;
  bool lowers(const ScheduledTask& task) const noexcept;
  void arm(Time now) noexcept;
  void watch() noexcept;
  std::span<const Command> settle(Time at) noexcept;
  void refuse(JobId job, RefusalCode code) noexcept;
  bool insert(const ScheduledTask& task) noexcept;
  void erase(const ScheduledTask* task) noexcept;

  const CoreId core_;
  const TimerId timer_;
  bool early_allowed_ = false;
  bool charges_overruns_ = false;
  std::vector<ScheduledTask> tasks_;  // sorted by descending priority
  std::vector<Command> commands_;     // the answer to the last call
  Time armed_ = never;
  Watched watched_;
  std::int64_t last_order_ = 0;
  std::int64_t first_order_ = 0;
  // The latest time that the CoreScheduler was given. An arrival that is reported late starts no job before it.
  Time latest_{};
};

}  // namespace corelane::sched
