// Lane: one core's jobs as a pure state machine: which job of each admitted task may run, released when, until which
// budget. Jobs of one task run one after another in the order of their arrival; jobs of different tasks are ordered by
// the platform below, which is preemptive fixed priority (the kernel's SCHED_FIFO, or the simulator's virtual core).
//
// Release rule (GCRA): a job that arrives at a has the nominal release n = max(a, TAT) and is eligible at e = max(a,
// n - J); then TAT = n + T. Since e_k >= n_k - J and n_k >= n_0 + k T >= e_0 + k T, any k + 1 eligible times span at
// least k T - J: in a window of length w lie at most ceil((w + J) / T), which is what the analysis charges, however the
// caller behaves.
//
// Early jobs: at an idle instant t (all that was eligible before t has ended) an early job may start, if the lane
// allows it; n = e = t for it and TAT = t + T. The analysis looks at one busy period, and t starts a new one: what ran
// before t bears on nothing after it. From t on the eligible times are t, then t + T - J or later, and so on, as above,
// so the count holds again. (Sun & Liu 1996 call this the second rule of the release guard. With TAT left where it was
// the count would hold as well, but whoever's clock runs fast would get ever further ahead of TAT, and be held back by
// all of it once the core is busy.)
//
// Overruns: a job that uses more than its budget C, or suspends itself for longer than its S, is treated as the
// contract says. `report`: it is counted, and others may be late by what it takes; but see below. `demote`: the rest of
// it runs below all admitted tasks, so that at its priority it has used C at most, and counts as nothing for idle
// instants. `cancel`: the same, and its answer goes out at once. The task's next job starts after the demoted one has
// ended; were the jobs that wait then released back to back, they would come denser than the rule allows, so they are
// spaced anew from there.
//
// A Lane that charges overruns treats them under `report` as under `demote`, but the rest of the job takes the place of
// the task's next one: once that is eligible, or should have come by its nominal release and J, the rest has its
// priority back, and the C of that place, less what it executed below the others meanwhile, and its S; after a
// suspension that was too long, what it had left of C. If some of it is left when the rest ends, the next job, where it
// waits, has that much in the same place; else the place is used up, and jobs that wait move on by one. So under each
// policy the task never demands more at its priority than its contract says, but for the time until it is stopped, and
// what it exceeds is charged to itself.
//
// Threads: owned by one thread at a time. No clock, no thread; nothing allocates after the constructor. Every loop is
// bounded by the number of tasks or by the waiting jobs of one task.
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

// Jobs of one task that may wait beside the one that runs, one of them early. More than one is for contracts whose
// deadline spans several periods; whose spans more is refused.
inline constexpr std::size_t max_waiting = 8;

struct WaitingJob {
  JobId job;
  Time released;  // its response and its deadline count from here
  Time nominal;   // n
  Time eligible;  // e: it starts then at the earliest
};

// What a Lane knows of one task; travels whole when the task moves.
struct LaneTask {
  TaskId id = no_task;
  Contract contract{};
  Priority priority{};
  Time tat{};       // theoretical arrival time of the next job
  JobId running{};  // valid while busy
  bool busy = false;
  bool started = false;   // had a job, so tat counts
  bool held = false;      // starts no job: vacated, waits for its Move
  bool joining = false;   // starts no job before an idle instant
  bool vacating = false;  // vacate() or dismiss() waits for the idle instant
  bool leaving = false;   // dismissed

  // Of the job that runs.
  bool demoted = false;
  bool overran = false;    // counted once
  Duration granted{};      // execution until it overruns (again)
  bool borrows = false;    // its rest runs in the place of the next job
  Time place{};            // the nominal release of that
  bool shares = false;     // the next job has what is left of that place: `granted`
  bool suspended = false;  // since suspended_at
  Time suspended_at{};
  Duration slept{};        // in suspensions that are over, since it has this place
  std::int64_t order = 0;  // in which the platform serves those of a level: as they became ready

  std::array<WaitingJob, max_waiting> waiting{};
  std::size_t waiting_count = 0;  // waiting[0] is the oldest
  std::uint64_t jobs = 0;
  std::uint64_t deferred = 0;
  std::uint64_t overruns = 0;

  // It takes part in what the analysis speaks of.
  bool pending() const noexcept { return busy && !demoted; }
  bool can_start() const noexcept { return !busy && !held && !joining && waiting_count > 0; }
  // The rest of its job waits for the place of the next one.
  bool postponed() const noexcept { return busy && demoted && contract.on_overrun == OverrunPolicy::report; }
  // From when on the rest may run there: when the next job may, or could have come at the latest.
  Time next_place() const noexcept { return waiting_count > 0 ? waiting[0].eligible : tat + contract.jitter; }
  // Its suspension may last until then, that instant included.
  Time sleeps_until() const noexcept { return suspended_at + (contract.suspension - slept); }
};

// Which job is watched. A Watch is news where it differs from the last, or where that one is spent: an Overran came.
class Watched {
 public:
  void spend(JobId job) noexcept {
    if (said_.job == job) spent_ = true;
  }
  // Whether this is news, which the caller says.
  bool note(const Watch& wanted) noexcept {
    const bool same = said_.job == wanted.job && said_.budget == wanted.budget;
    said_ = wanted;
    return std::exchange(spent_, false) || !same;
  }

 private:
  Watch said_{};
  bool spent_ = false;
};

class Lane {
 public:
  // timer: the one timer of this Lane, named in its Arm commands.
  Lane(CoreId core, std::size_t max_tasks, TimerId timer);

  // Whether early jobs may start at idle instants; not at first. Only where the Lane's idle instants are the core's:
  // all that the analysis charges there beside this Lane's tasks runs above every one of them. With another process's
  // tasks or a server below some task they are not, and the job would come on top of what is still pending there.
  void allow_early(bool allowed) noexcept { early_allowed_ = allowed; }

  // Overruns under `report` are charged to their own task. Before the first task.
  void charge_overruns() noexcept { charges_overruns_ = true; }

  // The task joins. False when it is there already or the Lane is full (the caller's mistake).
  bool add(TaskId task, const Contract& contract, Priority priority) noexcept;
  // The same, but its first job starts at the next idle instant at which no demoted job may hold a lock, or later.
  // Joined then, maybe at once. Nothing happens where add() would fail.
  std::span<const Command> join(Time now, TaskId task, const Contract& contract, Priority priority) noexcept;
  // Counts for jobs that start from now on. The thread's own priority is the runtime's business, but it keeps what it
  // has where the answer is false: its job is demoted (or it is not here).
  bool reprioritize(TaskId task, Priority priority) noexcept;

  // Arrived (of a task of this Lane; `at` is the arrival, which may be before what the Lane heard last), Finished,
  // Overran, Suspended, Resumed, Elapsed. Other facts are ignored. The commands are valid until the next call of any
  // member: Run (for jobs that run, which have their priority back, then for others, each by descending priority),
  // Defer, Refuse, Demote, Cancel, Arm, Watch, ReportVacated, Joined.
  std::span<const Command> decide(const Fact& fact) noexcept;

  // Prepares a Move: from the next idle instant on no job of the task starts here; ReportVacated then, maybe at once.
  // Not before a demoted job of it has ended.
  std::span<const Command> vacate(Time now, TaskId task) noexcept;
  // The task leaves for good: its waiting jobs are cancelled, the running one ends; ReportVacated at the idle instant.
  std::span<const Command> dismiss(Time now, TaskId task) noexcept;
  // Takes a vacated task out (its waiting jobs go with it), and brings it in elsewhere; or in again, called off.
  // take() gives a task with id no_task when it is not here. put() may start a job; set the task's priority before. A
  // job that runs (its core was lost, its thread was not) goes on.
  LaneTask take(TaskId task) noexcept;
  std::span<const Command> put(Time now, const LaneTask& task) noexcept;

  // What the job that runs may use until it overruns (again); without end where there is none, or it is demoted.
  Duration granted(TaskId task, JobId job) const noexcept;

  CoreId core() const noexcept { return core_; }
  // An idle instant: no admitted job is pending that was eligible before.
  bool idle(Time now) const noexcept;
  std::span<const LaneTask> tasks() const noexcept { return tasks_; }

 private:
  LaneTask* find(TaskId task) noexcept;
  LaneTask* running(TaskId task, JobId job) noexcept;
  void arrive(const Arrived& fact) noexcept;
  void finish(const Finished& fact) noexcept;
  void overran(const Overran& fact) noexcept;
  void overrun(LaneTask& task, Time now) noexcept;
  static void use_up_place(LaneTask& task, Time now) noexcept;
  void suspend(const Suspended& fact) noexcept;
  void resume(const Resumed& fact) noexcept;
  void end_long_sleeps(Time now) noexcept;
  void let_return(Time now) noexcept;
  void start_jobs(Time now, bool early_too) noexcept;
  void start(LaneTask& task) noexcept;
  void report_vacated() noexcept;
  void let_join(Time now) noexcept;
  bool may_hold_lock() const noexcept;
  bool lowers(const LaneTask& task) const noexcept;
  void arm(Time now) noexcept;
  void watch() noexcept;
  std::span<const Command> settle(Time at) noexcept;
  void refuse(JobId job, RefusalCode code) noexcept;
  bool insert(const LaneTask& task) noexcept;
  void erase(const LaneTask* task) noexcept;

  const CoreId core_;
  const TimerId timer_;
  bool early_allowed_ = false;
  bool charges_overruns_ = false;
  std::vector<LaneTask> tasks_;    // by descending priority
  std::vector<Command> commands_;  // answer to the last call
  Time armed_ = never;
  Watched watched_;
  std::int64_t last_order_ = 0;
  std::int64_t first_order_ = 0;
  Time latest_{};  // of all that it was told: an arrival that is told late starts nothing earlier
};

}  // namespace corelane::sched
