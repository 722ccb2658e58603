// AdmittedTasks has the records of the admitted tasks, and carries out what the Manager commands about them. When a
// task comes, changes or leaves, it tells each part that knows the task: the core's pool, the task's worker and thread,
// the hints, the departures, the lease and the counters. It asks the Manager only for bounds, and tells it no facts. If
// a command leads to a fact, the function returns the fact, and the caller tells it to the Manager.
//
// Threads: the holder of the manager's lock.
//
// Memory: admit() allocates all that a task needs in its life. After that nothing about the task allocates: neither its
// jobs, nor its moves, nor its departure. So promises do not depend on the memory that is left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "orb/base/contract.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/dispatch/admission/admission_candidate.h"
#include "orb/dispatch/admission/ledger_client.h"
#include "orb/dispatch/clock.h"
#include "orb/dispatch/cores/housekeeper.h"
#include "orb/dispatch/executive.h"
#include "orb/dispatch/job.h"
#include "orb/dispatch/manager/core_pools.h"
#include "orb/dispatch/manager/peer_inbox.h"
#include "orb/dispatch/manager/priority_hints.h"
#include "orb/dispatch/queue/inbox.h"
#include "orb/dispatch/records/counter_publisher.h"
#include "orb/dispatch/records/departures.h"
#include "orb/dispatch/records/task_history.h"
#include "orb/dispatch/records/task_leases.h"
#include "orb/dispatch/records/task_record.h"
#include "orb/dispatch/records/task_reports.h"
#include "orb/dispatch/records/task_table.h"
#include "orb/dispatch/resources/ceilings.h"
#include "orb/dispatch/telemetry/recorded_scheduler.h"
#include "orb/os/wait/wait.h"
#include "orb/sched/commands.h"
#include "orb/sched/refusal.h"

namespace corelane::dispatch {

class AdmittedTasks {
 public:
  // What other threads share with the tasks.
  struct Shared {
    Housekeeper& housekeeper;
    CounterPublisher& counters;
    PriorityHints& hints;
    Departures& departures;
    os::Parker& below;  // of the thread that looks for unused tasks
  };
  // All arguments must outlive this object.
  AdmittedTasks(const ExecutiveOptions& options, const Clock& clock, RecordedManager& manager, LedgerClient& promises,
                CorePools& pools, const Shared& shared);

  // Sets the receiver of the tasks' events. Call it before the first task.
  void tell_events_to(TaskEvents& events) noexcept { events_ = &events; }
  // Returns the ceilings of the resources that a new task would lock. Allocates.
  CeilingsOfTask ceilings_of(const Contract& contract) { return ceilings_.of(contract); }

  // Takes in a new task, and starts its thread. False: there is not enough memory, nothing has happened, and the caller
  // still has the candidate's handler and job; the task departs.
  [[nodiscard]] bool admit(const sched::Admit& admit, AdmissionCandidate& candidate, Time now) noexcept;
  // Gives a job to its task's core, or keeps it until the task's thread runs.
  void dispatch(TaskId task, JobPtr job) noexcept;
  void carry_out(const sched::Reprioritize& change, Time now) noexcept;
  void carry_out(const sched::Ceiling& ceiling, Time now) noexcept;
  void carry_out(const sched::Vacate& vacate, Time now) noexcept;
  void carry_out(const sched::Move& move, Time now) noexcept;
  void carry_out(const sched::Evict& evict, Time now) noexcept;
  template <typename SchedulerCommand>
  void carry_out(const SchedulerCommand&, Time) noexcept {}  // only CoreSchedulers give these
  // Ends the task. False: the task departed before it had a record, so nothing of it is on the core.
  [[nodiscard]] bool dismiss(const sched::Dismiss& dismiss, Time now) noexcept;

  // Handle the notes about a task's thread. After a failure, and after a task has left its core, the caller tells the
  // Manager. on_failed() returns whether the task exists.
  void on_started(const ThreadStarted& note, Time now) noexcept;
  [[nodiscard]] bool on_failed(const ThreadFailed& note) noexcept;
  void on_vacated(const sched::Vacated& note, Time now) noexcept;

  // Notes why a task departs although its client did not ask for that.
  void will_end(TaskId task, sched::RefusalCode why) noexcept;
  // Calls end(task) for each task whose lease is over. Returns whether there was one.
  template <typename End>
  bool end_unused(Time now, End end) noexcept {
    return leases_.look(
        now, [this](TaskId task) { return use_of(task); }, end);
  }
  // Returns when end_unused() has something to do.
  Time look_at() const noexcept { return leases_.look_at(); }
  // Gives the connection to its task's thread, or closes it. No client knows of a task that still waits for its thread.
  void give(const PeerInbox::Attachment& attachment) noexcept;
  // Raises the tasks' response bounds. A new task makes other tasks slower: those of its core and, if it made tasks
  // move first, those of their cores. A report compares the worst response of a task's life with the largest bound that
  // held during it, so a bound only grows. Bound: the tasks of the process.
  void raise_bounds() noexcept;

  // Returns null if the task does not exist, or has left its core.
  const TaskRecord* find(TaskId task) const noexcept { return records_.find(task); }
  const TaskHistory& history() const noexcept { return history_; }
  std::uint64_t admitted() const noexcept { return admitted_; }  // so far
  void add_to(TaskReports& reports) const;

  // End all tasks when the executive stops: their jobs, then what is known of them.
  void let_all_go(Time now) noexcept;
  void forget_all() noexcept;

 private:
  TaskRecord* take_room(const sched::Admit& admit, const AdmissionCandidate& candidate, CorePool& pool) noexcept;
  void start_thread(TaskRecord& record, Time now) noexcept;
  void hand_over(TaskRecord& record, JobPtr job, Time at) noexcept;
  std::optional<std::uint64_t> use_of(TaskId task) noexcept;
  void let_go(TaskRecord& record, const std::optional<sched::Refusal>& why, Time now) noexcept;
  void forget(TaskRecord& record) noexcept;

  // Constant.
  const ExecutiveOptions& options_;
  const Clock clock_;
  RecordedManager& manager_;
  LedgerClient& promises_;
  CorePools& pools_;
  const Shared shared_;
  TaskEvents* events_ = nullptr;

  TaskTable<TaskRecord> records_;
  Ceilings ceilings_;
  TaskLeases leases_;
  TaskHistory history_;
  std::uint64_t admitted_ = 0;
};

}  // namespace corelane::dispatch
