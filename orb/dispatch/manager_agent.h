// ManagerAgent: the one owner of sched::Manager. Takes requests in priority order, asks the Manager, carries out what
// it commands: jobs go to the core's pool and from there to the task's thread, threads are ordered from the
// housekeeper. An agent: tests step it by hand, the executive gives it a thread.
//
// Order of work in a step: notes (threads that live, tasks that left their core), a core that was lost, then up to
// `batch` requests, then one peer or task that leaves (or else one admission is taken in), then the first slice of a
// newcomer's analysis, or its decision. While requests keep coming that stays away, but for once in `most_skipped`
// steps. A slice is counted in evaluations and not in time, some 20 us on a core with a hundred tasks. While tasks are
// on a lost core nobody is admitted.
//
// A step is above all tasks, so newcomers get no more of it than the analysis charges for the platform (OwnTime): what
// goes beyond that, or beyond a first slice, and what would have fitted instead of a refused contract, and bounds, is
// done in slices by below(), an agent on a thread below all tasks. Each of its steps takes the lock, so an admitted job
// waits for one slice at most, which runs at the manager's priority meanwhile. On a core that the tasks fill it gets
// the part of it that is never promised (5 %), and the manager goes on with first slices as its own time comes back.
//
// Between two steps of the manager, a thread that hands in a job of an admitted task takes the manager's turn:
// hand_in() dispatches the queued jobs of admitted tasks, in their order, on the caller's thread. Where none is queued
// it dispatches the new job alone, which is then not queued and displaces no other. Nothing is analysed there. It saves
// the hop to the manager's thread, which is there for everything else, and for what comes while it is in a step.
//
// Threads: step(), wake_at() and shut_down() on one thread at a time, below() on another; submit(), hand_in(), admit(),
// depart(), peer_gone(), report() any thread. Two locks, both priority-inheriting: state_mutex_ (a step, a turn, or a
// report) and door_mutex_ (the lists of lost peers and attachments). Other threads allocate and free under neither.
//
// Memory: what a task's life will take is allocated before it is admitted: on the thread that asks (Newcomer), and in
// take_room(). Where there is none the newcomer is told NO_MEMORY. After that nothing about the task allocates, neither
// its jobs nor its moves nor its departure; so what was promised does not depend on what is left. Only that the tasks
// of a lost core go elsewhere is written down first, which takes memory: without any for Newcomers::patience they end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "orb/base/agent.h"
#include "orb/dispatch/admission_queue.h"
#include "orb/dispatch/back_off.h"
#include "orb/dispatch/best_effort_lane.h"
#include "orb/dispatch/ceilings.h"
#include "orb/dispatch/clock.h"
#include "orb/dispatch/core_pool.h"
#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/core_watch.h"
#include "orb/dispatch/counter_publisher.h"
#include "orb/dispatch/departures.h"
#include "orb/dispatch/executive.h"
#include "orb/dispatch/housekeeper.h"
#include "orb/dispatch/inbox.h"
#include "orb/dispatch/newcomer.h"
#include "orb/dispatch/newcomers.h"
#include "orb/dispatch/node_list.h"
#include "orb/dispatch/own_time.h"
#include "orb/dispatch/priority_hints.h"
#include "orb/dispatch/promise_keeper.h"
#include "orb/dispatch/recent.h"
#include "orb/dispatch/recorded_lane.h"
#include "orb/dispatch/recorder.h"
#include "orb/dispatch/request_queue.h"
#include "orb/dispatch/task_leases.h"
#include "orb/dispatch/task_worker.h"
#include "orb/os/wait.h"
#include "orb/sched/manager.h"
#include "orb/sched/priority.h"

namespace corelane::dispatch {

class ManagerAgent final : public Agent {
 public:
  static constexpr int batch = 32;
  static constexpr int most_skipped = 8;  // full batches in a row, before newcomers get a slice all the same

  // The part of the work that is done below all tasks.
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
               ThreadMaker& maker, BestEffortLane& best_effort, const Clock& clock = {});
  ~ManagerAgent() override;

  bool step(Time now) noexcept override;
  // When there is something to do without a wake-up.
  Time wake_at() const noexcept { return wake_at_; }
  os::Parker& parker() noexcept { return parker_; }
  Below& below() noexcept { return below_; }
  Housekeeper& housekeeper() noexcept { return housekeeper_; }
  std::span<const std::unique_ptr<CorePool>> pools() const noexcept { return pools_; }
  Recorder& recorder() noexcept { return recorder_; }

  // Who hears of the tasks' events; before the first step. It outlives the agent's threads.
  void tell_events_to(TaskEvents& events) noexcept { events_ = &events; }

  // Of an admitted task, or the first one of a new task. Any thread.
  Pushed submit(JobPtr& job) noexcept;
  // The same, but the calling thread dispatches the job of an admitted task itself if it can do so at once. Does not
  // block.
  Pushed hand_in(JobPtr& job) noexcept;
  void admit(AdmissionRequest request, std::unique_ptr<AdmissionHandler> handler);
  void depart(TaskId task, PeerId owner) noexcept;
  void peer_gone(PeerId peer) noexcept;
  // By the operator: the client is told so. False: the task is not there, or leaves already.
  bool end(TaskId task) noexcept;
  void attach(TaskId task, PeerId owner, std::shared_ptr<JobSource> source) noexcept;
  void note_refused_job() noexcept { counters_.note_refused_job(); }
  ExecutiveReport report() const;

  // No more steps, nor of below(); newcomers that wait are told, threads end, promises are given back. After the last
  // step().
  void shut_down(Time now) noexcept;

 private:
  static constexpr std::size_t remembered = 256;    // tasks that left and still stand in the report
  static constexpr std::size_t most_losses = 1024;  // peers that are gone and not taken in yet, with their newcomers
  // A task that ended though its client did not ask for it.
  struct Ended {
    TaskId task;
    sched::RefusalCode why = sched::RefusalCode::core_lost;
  };
  struct Attachment {
    TaskId task;
    PeerId owner;
    std::shared_ptr<JobSource> source;
    std::unique_ptr<Attachment> next;
  };

  // One admitted task.
  struct Record {
    TaskReport report;  // without the worker's numbers, label and misses: copying it allocates nothing
    std::shared_ptr<const std::string> label;
    WorkerPtr worker;
    bool started = false;  // its thread lives
    bool leaving = false;
    std::unique_ptr<AdmissionHandler> handler;  // until its thread lives
    JobList first_jobs;                         // placed before the thread lived
    Housekeeper::Orders orders;
    std::optional<sched::Refusal> why{};  // it has to leave
    std::shared_ptr<TaskReport> last;     // what is left of it in the report, with room for label and misses
  };

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
  bool begin_newcomer(Time now) noexcept;
  bool decide_newcomer(Time now) noexcept;
  void wake_for_newcomer(Time now) noexcept;
  void leave_rest_below(Time now) noexcept;
  bool has_newcomers(Time now) noexcept;
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
  Record* take_room(const sched::Admit& admit, const Newcomer& newcomer, CorePool& pool) noexcept;
  void start_thread(Record& record, Time now) noexcept;
  Seat seat_on(const CorePool& pool, Priority priority, const Contract& contract) const noexcept;
  void raise_bounds() noexcept;
  void handle(const sched::Place& place, Time now) noexcept;
  void handle(const sched::Reprioritize& change, Time now) noexcept;
  void handle(const sched::Ceiling& ceiling, Time now) noexcept;
  void handle(const sched::Vacate& vacate, Time now) noexcept;
  void handle(const sched::Move& move, Time now) noexcept;
  void handle(const sched::Dismiss& dismiss, Time now) noexcept;
  void handle(const sched::Evict& evict, Time now) noexcept;
  void handle(const sched::Refuse& refuse, Time now) noexcept;
  template <typename LaneCommand>
  void handle(const LaneCommand&, Time) noexcept {}  // comes from Lanes only

  void handle_note(const sched::Vacated& note, Time now) noexcept;
  void handle_note(const sched::CoreLost& note, Time now) noexcept;
  void handle_note(const sched::CoreReturned& note, Time now) noexcept;
  void handle_note(const ThreadStarted& note, Time now) noexcept;
  void handle_note(const ThreadFailed& note, Time now) noexcept;

  void hand_over(Record& record, JobPtr job, JobId id, Time at) noexcept;
  void end_task(TaskId task, sched::RefusalCode why, Time now) noexcept;
  bool end_unused_tasks(Time now) noexcept;
  std::optional<std::uint64_t> use_of(TaskId task) noexcept;
  sched::Refusal reason_for(TaskId task, const sched::Refusal& otherwise) const noexcept;
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
  BestEffortLane& best_effort_;
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
  std::atomic<Time> time_back_at_{Time{}};  // own_time_ is used up until then
  Below below_;
  Departures departures_;
  AdmissionQueue admissions_;
  os::PiMutex door_mutex_;
  std::vector<PeerId> losses_;        // guarded by door_mutex_; at most most_losses, oldest first
  NodeList<Attachment> attachments_;  // guarded by door_mutex_; one at most for each connection
  bool closed_ = false;               // guarded by door_mutex_

  // Guarded by state_mutex_: a step, a turn or a report.
  mutable os::PiMutex state_mutex_;
  RecordedManager manager_;
  PromiseKeeper promises_;
  Newcomers newcomers_;
  OwnTime own_time_;
  TaskLeases leases_of_tasks_;
  std::vector<std::unique_ptr<CorePool>> pools_;
  std::unordered_map<TaskId, std::unique_ptr<Record>> records_;
  Ceilings ceilings_;
  std::optional<sched::Fact> follow_up_;  // of the commands that are being carried out; see tell()
  bool carrying_out_ = false;
  std::vector<Note> notes_;
  std::vector<sched::CoreLost> lost_;  // cores whose tasks are still there; at most one for each core
  std::vector<CoreId> returned_;       // cores that are there again and not used yet; at most one entry for each
  BackOff returning_{std::chrono::milliseconds{10}, std::chrono::seconds{1}};
  bool below_binds_again_ = false;
  BackOff leaving_{PromiseKeeper::retry_period, PromiseKeeper::longest_retry};
  int skipped_ = 0;       // steps in which requests left no time for newcomers
  bool settled_ = false;  // but for jobs nothing was to do since a step found nothing to do
  JobPtr current_;        // the job that the Manager is being asked about
  Recent<std::shared_ptr<const TaskReport>> gone_{remembered};
  Recent<Ended> ended_{remembered};  // the latest, so that their clients are told
  std::uint64_t admitted_ = 0;
  std::uint64_t jobs_refused_ = 0;     // here; workers count, too
  std::uint64_t refused_by_gone_ = 0;  // by workers that have left
  Time wake_at_ = never;
};

}  // namespace corelane::dispatch
