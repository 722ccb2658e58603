// ManagerAgent owns sched::Manager. It takes requests in priority order, asks the Manager, and carries out the
// Manager's commands. It gives jobs to the core's pool, which gives them to the task's thread, and it orders threads
// from the housekeeper. It is an agent: tests step it by hand, and the executive gives it a thread. An
// AdmissionCandidate is a request for admission (admission_candidate.h).
//
// A step does, in this order:
// - reads notes: threads that live, tasks that left their core;
// - takes back cores that returned, and moves the tasks of one lost core;
// - gives a task a connection of its own;
// - dispatches up to `batch` requests;
// - lets one peer or task leave, or else takes in one admission;
// - runs the first slice of a new task's analysis, or decides about the new task.
//
// While full batches of requests arrive, the last item is done only once in `most_skipped` steps. A slice is limited in
// evaluations, not in time. It takes about 20 us on a core with a hundred tasks. While tasks are on a lost core, no
// task is admitted.
//
// A step runs above all tasks. So new tasks get no more time in it than the analysis charges for the platform
// (AnalysisBudget). below(), an agent on a thread below all tasks, does the rest in slices: what exceeds that time or a
// first slice, the search for contracts that would have fitted instead of refused ones, and response bounds. Each of
// its steps takes the lock. So an admitted job waits for one slice at most, which then runs at the manager's priority.
// On a core that the tasks fill, below() gets the part that is never promised (5 %). The manager goes on with first
// slices when it has time again.
//
// Between two steps, a thread that hands in a job of an admitted task may dispatch instead of the manager's thread.
// hand_in() dispatches the queued jobs of admitted tasks, in their order, on the caller's thread. If none is queued, it
// dispatches only the new job, which is then not queued and displaces no other job. It analyses nothing. This saves the
// switch to the manager's thread, which does everything else, and takes the jobs that arrive during its step.
//
// Threads: step(), wake_at() and shut_down(): one thread at a time; below(): another one; submit(), hand_in(), admit(),
// depart(), peer_gone(), report(): any. There are two locks, both with priority inheritance: state_mutex_ (a step, a
// dispatch by hand_in(), or a report) and that of the PeerInbox. Other threads allocate and free under neither.
//
// Memory: all that a task needs in its life is allocated before it is admitted: on the thread that asks
// (AdmissionCandidate), and in take_room(). If there is no memory, the new task gets NO_MEMORY. After that nothing
// about the task allocates: neither its jobs, nor its moves, nor its departure. So promises do not depend on the memory
// that is left. There is one exception: the moves of a lost core's tasks are written down first, which takes memory. If
// there is none for AdmissionControl::patience, these tasks end.
//
// The folder orb/dispatch/manager decides about tasks and dispatches their jobs. It owns the other parts of the mode
// with admission.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "orb/base/agent.h"
#include "orb/dispatch/best_effort/best_effort_executor.h"
#include "orb/dispatch/clock.h"
#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/cores/core_pool.h"
#include "orb/dispatch/cores/housekeeper.h"
#include "orb/dispatch/cores/task_worker.h"
#include "orb/dispatch/executive.h"
#include "orb/dispatch/leases/core_watch.h"
#include "orb/dispatch/manager/admission_candidate.h"
#include "orb/dispatch/manager/admission_control.h"
#include "orb/dispatch/manager/admission_queue.h"
#include "orb/dispatch/manager/analysis_budget.h"
#include "orb/dispatch/manager/counter_publisher.h"
#include "orb/dispatch/manager/departures.h"
#include "orb/dispatch/manager/ledger_client.h"
#include "orb/dispatch/manager/peer_inbox.h"
#include "orb/dispatch/manager/priority_hints.h"
#include "orb/dispatch/manager/task_history.h"
#include "orb/dispatch/manager/task_leases.h"
#include "orb/dispatch/manager/task_record.h"
#include "orb/dispatch/manager/task_table.h"
#include "orb/dispatch/queue/back_off.h"
#include "orb/dispatch/queue/inbox.h"
#include "orb/dispatch/queue/request_queue.h"
#include "orb/dispatch/resources/ceilings.h"
#include "orb/dispatch/telemetry/recorded_scheduler.h"
#include "orb/dispatch/telemetry/recorder.h"
#include "orb/os/wait/wait.h"
#include "orb/sched/manager.h"
#include "orb/sched/priority.h"

namespace corelane::dispatch {

class ManagerAgent final : public Agent {
 public:
  static constexpr int batch = 32;
  static constexpr int most_skipped = 8;  // full batches in a row, after which new tasks get a slice all the same

  // Below does the part of the work that runs below all tasks.
  class Below final : public Agent {
   public:
    explicit Below(ManagerAgent& manager, CoreId core) : manager_(manager), core_(core), home_(core) {}
    bool step(Time now) noexcept override;
    Time wake_at() const noexcept { return wake_at_; }
    os::Parker& parker() noexcept { return parker_; }

   private:
    friend class ManagerAgent;
    void note(Time wake_at, CoreId home) noexcept { wake_at_ = wake_at, home_ = home; }
    void bind_again() noexcept { core_ = no_core; }

    ManagerAgent& manager_;
    os::Parker parker_;
    // Owner: its thread.
    Time wake_at_ = never;
    CoreId core_;  // where the thread is bound
    CoreId home_;  // where the manager's thread is
  };

  ManagerAgent(const ExecutiveOptions& options, const std::vector<CoreLease>& leases, CoreProvider& provider,
               ThreadMaker& maker, BestEffortExecutor& best_effort, const Clock& clock = {});
  ~ManagerAgent() override;

  bool step(Time now) noexcept override;
  // Returns when there is something to do without a wake-up.
  Time wake_at() const noexcept { return wake_at_; }
  os::Parker& parker() noexcept { return parker_; }
  Below& below() noexcept { return below_; }
  Housekeeper& housekeeper() noexcept { return housekeeper_; }
  // Thread: the housekeeper's.
  bool misses_core() const noexcept { return core_watch_.misses_core(); }
  std::span<const std::unique_ptr<CorePool>> pools() const noexcept { return pools_; }
  Recorder& recorder() noexcept { return recorder_; }

  // Sets the receiver of the tasks' events. Call it before the first step. `events` must outlive the agent's threads.
  void tell_events_to(TaskEvents& events) noexcept { events_ = &events; }

  // Takes a job of an admitted task, or the first job of a new task. Any thread.
  Pushed submit(JobPtr& job) noexcept;
  // Does the same, but the calling thread dispatches the job of an admitted task itself if it can do so at once. Does
  // not block.
  Pushed hand_in(JobPtr& job) noexcept;
  void admit(AdmissionRequest request, std::unique_ptr<AdmissionHandler> handler);
  void depart(TaskId task, PeerId owner) noexcept;
  void peer_gone(PeerId peer) noexcept;
  // Ends the task for the operator, and tells its client so. False: the task does not exist, or leaves already.
  bool end(TaskId task) noexcept;
  void attach(TaskId task, PeerId owner, std::shared_ptr<JobSource> source) noexcept;
  void note_refused_job() noexcept { counters_.note_refused_job(); }
  ExecutiveReport report() const;

  // Tells waiting new tasks, ends threads, and gives promises back. Call it after the last step(), also of below().
  void shut_down(Time now) noexcept;

 private:
  using Record = TaskRecord;

  void ask_for_task(JobPtr job) noexcept;
  Pushed enqueue(JobPtr& job) noexcept;
  bool dispatch_at_once(JobPtr& job) noexcept;
  bool take_turn() noexcept;
  bool read_notes(Time now) noexcept;
  int dispatch_jobs(Time now) noexcept;
  bool may_analyse(int dispatched) noexcept;
  bool take_lost_peer(Time now) noexcept;
  bool take_departure(Time now) noexcept;
  bool take_attachment() noexcept;
  bool take_admission(Time now) noexcept;
  bool begin_candidate(Time now) noexcept;
  bool decide_candidate(Time now) noexcept;
  void wake_for_candidate(Time now) noexcept;
  void leave_rest_below(Time now) noexcept;
  bool has_candidates(Time now) noexcept;
  bool step_below(Time now) noexcept;
  bool leave_lost_core(Time now) noexcept;
  bool take_cores_back(Time now) noexcept;
  bool take_back(CoreId core, Time now) noexcept;
  void settle_home() noexcept;

  void arrive(JobPtr job, Time now) noexcept;

  void tell(const sched::Fact& fact, Time now) noexcept;
  void carry_out(std::span<const sched::Command> commands, Time now) noexcept;
  void carry_out_all(std::span<const sched::Command> commands, Time now) noexcept;
  void handle(const sched::Admit& admit, Time now) noexcept;
  Record* take_room(const sched::Admit& admit, const AdmissionCandidate& candidate, CorePool& pool) noexcept;
  void start_thread(Record& record, Time now) noexcept;
  ThreadPlacement placement_on(const CorePool& pool, Priority priority, const Contract& contract) const noexcept;
  void raise_bounds() noexcept;
  void handle(const sched::Dispatch& command, Time now) noexcept;
  void handle(const sched::Reprioritize& change, Time now) noexcept;
  void handle(const sched::Ceiling& ceiling, Time now) noexcept;
  void handle(const sched::Vacate& vacate, Time now) noexcept;
  void handle(const sched::Move& move, Time now) noexcept;
  void handle(const sched::Dismiss& dismiss, Time now) noexcept;
  void handle(const sched::Evict& evict, Time now) noexcept;
  void handle(const sched::Refuse& refuse, Time now) noexcept;
  template <typename SchedulerCommand>
  void handle(const SchedulerCommand&, Time) noexcept {}  // only CoreSchedulers give these

  void handle_note(const sched::Vacated& note, Time now) noexcept;
  void handle_note(const sched::CoreLost& note, Time now) noexcept;
  void handle_note(const sched::CoreReturned& note, Time now) noexcept;
  void handle_note(const ThreadStarted& note, Time now) noexcept;
  void handle_note(const ThreadFailed& note, Time now) noexcept;

  void hand_over(Record& record, JobPtr job, JobId id, Time at) noexcept;
  void end_task(TaskId task, sched::RefusalCode why, Time now) noexcept;
  bool end_unused_tasks(Time now) noexcept;
  std::optional<std::uint64_t> use_of(TaskId task) noexcept;
  void let_go(Record& record, const std::optional<sched::Refusal>& why, Time now) noexcept;
  void move_home() noexcept;
  void complete(sched::Refusal& refusal) noexcept;
  JobPtr take_job(JobId id) noexcept;
  void forget(Record& record) noexcept;
  static void fill(TaskReport& report, const TaskWorker& worker);
  void report_cores(ExecutiveReport& report) const;
  Record* find(TaskId task) noexcept;
  CorePool* pool_of(CoreId core) noexcept;

  // Constant after construction.
  const ExecutiveOptions options_;
  const std::vector<CoreLease> leases_;
  const sched::NativeRange natives_;
  const Clock clock_;
  BestEffortExecutor& best_effort_;
  TaskEvents* events_ = nullptr;

  // Shared.
  os::Parker parker_;
  NoteInbox inbox_;
  RequestQueue queue_;
  PriorityHints hints_;
  Recorder recorder_;
  RefusalLog refusals_;
  CounterPublisher counters_;
  Housekeeper housekeeper_;
  CoreWatch core_watch_;
  std::atomic<Time> time_back_at_{Time{}};  // until then, analysis_budget_ is used up
  Below below_;
  Departures departures_;
  AdmissionQueue admissions_;
  PeerInbox peers_;

  // Guarded by state_mutex_.
  mutable os::PiMutex state_mutex_;
  RecordedManager manager_;
  LedgerClient promises_;
  AdmissionControl admission_control_;
  AnalysisBudget analysis_budget_;
  TaskLeases leases_of_tasks_;
  std::vector<std::unique_ptr<CorePool>> pools_;
  TaskTable<Record> records_;
  TaskHistory history_;
  Ceilings ceilings_;
  std::optional<sched::Fact> follow_up_;  // waits until the current commands are carried out; see tell()
  bool carrying_out_ = false;
  std::vector<Note> notes_;
  std::vector<sched::CoreLost> lost_;  // lost cores whose tasks are still there; at most one entry for each
  std::vector<CoreId> returned_;       // cores that returned and are not used yet; at most one entry for each
  BackOff returning_{std::chrono::milliseconds{10}, std::chrono::seconds{1}};
  bool below_binds_again_ = false;
  BackOff leaving_{LedgerClient::retry_period, LedgerClient::longest_retry};
  int skipped_ = 0;       // steps in which requests left no time for new tasks
  bool settled_ = false;  // a step found nothing to do, and since then only jobs came
  JobPtr current_;        // the job that the Manager is being asked about
  std::uint64_t admitted_ = 0;
  std::uint64_t jobs_refused_ = 0;  // those refused here; workers count, too
  Time wake_at_ = never;
};

}  // namespace corelane::dispatch
