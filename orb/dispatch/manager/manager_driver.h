// ManagerDriver has the sched::Manager and what acts for it. It tells the Manager facts, and carries out the Manager's
// commands. It answers new tasks and jobs itself. AdmittedTasks carries out commands about admitted tasks.
// ManagerDriver owns all state that the manager's lock guards, except for the order of the work (WorkCycle).
//
// The commands are valid only until the Manager is asked again. So a fact that arises while commands are carried out
// waits until they are done, which saves copying them. At most one fact waits: an answer admits one new task at most.
// If that fails here, its task departs. The answer to that contains a Dismiss, which finds nothing on the core, so the
// core is vacated. Nothing else raises a fact.
//
// Threads: the holder of the manager's lock.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/dispatch/admission/admission_candidate.h"
#include "orb/dispatch/admission/admission_control.h"
#include "orb/dispatch/admission/admission_queue.h"
#include "orb/dispatch/admission/ledger_client.h"
#include "orb/dispatch/best_effort/best_effort_executor.h"
#include "orb/dispatch/clock.h"
#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/executive.h"
#include "orb/dispatch/job.h"
#include "orb/dispatch/manager/admitted_tasks.h"
#include "orb/dispatch/manager/core_changes.h"
#include "orb/dispatch/manager/core_pools.h"
#include "orb/dispatch/queue/inbox.h"
#include "orb/dispatch/refusal_log.h"
#include "orb/dispatch/telemetry/recorded_scheduler.h"
#include "orb/dispatch/telemetry/recorder.h"
#include "orb/sched/commands.h"
#include "orb/sched/facts.h"

namespace corelane::dispatch {

class ManagerDriver {
 public:
  // What other threads share with the manager, beside its tasks.
  struct Shared {
    AdmissionQueue& admissions;
    BestEffortExecutor& best_effort;
    NoteInbox& notes;
    Recorder& recorder;
    RefusalLog& refusals;
  };
  // All arguments must outlive this object.
  ManagerDriver(const ExecutiveOptions& options, const std::vector<CoreLease>& leases, CoreProvider& provider,
                const Clock& clock, const Shared& shared, const AdmittedTasks::Shared& of_tasks);

  // Dispatches a job, or refuses it.
  void arrive(JobPtr job, Time now) noexcept;
  // Tells the Manager a fact, and carries out what it commands.
  void tell(const sched::Fact& fact, Time now) noexcept { carry_out(manager_.decide(fact), now); }
  void read(const Note& note, Time now) noexcept;

  // Proposes a new task: begins to decide about it, or tells it why not.
  void propose(AdmissionCandidatePtr candidate, Time now) noexcept;
  // Runs a slice of the new task's analysis, or decides about it. Returns whether anything was done. While tasks are on
  // a lost core, no task is admitted.
  bool decide_candidate(Time now) noexcept;
  // Ends the task like a departure. But its client did not ask for that, and is told the reason.
  void end_task(TaskId task, sched::RefusalCode why, Time now) noexcept;
  // Return whether anything was done.
  bool end_unused_tasks(Time now) noexcept;
  bool leave_lost_core(Time now) noexcept;
  bool take_cores_back(Time now) noexcept;

  // Adds what needs the lock. Allocates nothing if report.cores has room for the cores.
  void add_to(ExecutiveReport& report, TaskReports& tasks) const;
  // Publishes the counts of tasks and jobs.
  void publish_counts() noexcept;
  // End all tasks when the executive stops. First their jobs; then, when their threads have ended, what is known of
  // them, and the promises.
  void let_all_go(Time now) noexcept;
  void forget_all() noexcept;

  RecordedManager& manager() noexcept { return manager_; }
  LedgerClient& promises() noexcept { return promises_; }
  AdmissionControl& admission() noexcept { return admission_; }
  AdmittedTasks& tasks() noexcept { return tasks_; }
  CoreChanges& core_changes() noexcept { return core_changes_; }
  const CorePools& pools() const noexcept { return pools_; }

 private:
  // A fact that waits until the current commands are carried out.
  using FollowUp = std::optional<sched::Fact>;
  void carry_out(std::span<const sched::Command> commands, Time now) noexcept;
  FollowUp carry_out_once(std::span<const sched::Command> commands, Time now) noexcept;
  void handle(const sched::Admit& admit, Time now, FollowUp& next) noexcept;
  void handle(const sched::Dispatch& command, Time now, FollowUp& next) noexcept;
  void handle(const sched::Dismiss& dismiss, Time now, FollowUp& next) noexcept;
  void handle(const sched::Refuse& refuse, Time now, FollowUp& next) noexcept;
  template <typename OfTask>
  void handle(const OfTask& command, Time now, FollowUp&) noexcept {
    tasks_.carry_out(command, now);
  }
  void complete(sched::Refusal& refusal) noexcept;
  JobPtr take_job(JobId id) noexcept;

  // Constant.
  const ExecutiveOptions& options_;
  const std::vector<CoreLease>& leases_;
  const Clock clock_;
  const Shared shared_;
  CounterPublisher& counters_;

  RecordedManager manager_;
  LedgerClient promises_;
  AdmissionControl admission_;
  CorePools pools_;
  AdmittedTasks tasks_;
  CoreChanges core_changes_;
  JobPtr current_;                  // the job that the Manager is being asked about
  std::uint64_t jobs_refused_ = 0;  // those refused here; workers count, too
};

}  // namespace corelane::dispatch
