// Executive: the one place of a process where tasks are admitted and their jobs run; shared by all its ORBs.
//
//   submit() ─▶ RequestQueue, if others are first ─▶ manager's turn: sched::Manager, the Lane of the core
//                                                                                         ─▶ the task's own thread
//   submit() ─▶ best-effort queue ─▶ pool (SCHED_OTHER)                 (no task and no contract: no manager either)
//   attach() ─▶ the task's own thread reads its connection, and steps the Lane itself     (mode `direct`)
//   submit() ─▶ the caller's own thread, at the task's priority; no manager, no Lane      (mode `leader-followers`)
//
// Threads: one manager (SCHED_FIFO, above all tasks), one below all tasks on its core that analyses newcomers for
// longer than a slice, one thread per admitted task (bound to its core, SCHED_FIFO by its priority), a small
// best-effort pool, which servers may lift above the tasks. Every member may be called from any thread unless it says
// otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/job.h"
#include "orb/dispatch/miss_log.h"
#include "orb/dispatch/recorder_options.h"
#include "orb/dispatch/refusal_log.h"
#include "orb/dispatch/task_events.h"
#include "orb/os/wait.h"
#include "orb/sched/refusal.h"
#include "orb/sched/reservation.h"
#include "orb/sched/task.h"

namespace corelane::dispatch {

class JobSource;
class RequestSource;

enum class DispatchMode : std::uint8_t { manager, direct, leader_followers };

// What best-effort jobs may use above the admitted tasks; docs/servers.md.
enum class BestEffortServer : std::uint8_t { none, sporadic, deferrable };
struct BestEffortServerOptions {
  BestEffortServer kind = BestEffortServer::none;
  sched::Reservation reservation{.budget = std::chrono::microseconds{500}, .period = std::chrono::milliseconds{10}};
  std::vector<CoreId> cores;  // each has a server, and threads of its own; empty: all that are leased
};

// How a core by deadlines runs (docs/servers.md): by SCHED_FIFO levels that follow the deadlines; or by the kernel's
// own SCHED_DEADLINE where it can be had, else by levels, too.
enum class DeadlinePolicy : std::uint8_t { levels, kernel };

struct ExecutiveOptions {
  DispatchMode mode = DispatchMode::manager;  // leader_followers: leases and promises nothing
  LeaseRequest lease;                         // pool.cores
  std::vector<CoreId> deadline_cores;         // pool.deadline_cores: of those, by earliest deadline first; not all
  DeadlinePolicy deadline_policy = DeadlinePolicy::levels;
  std::vector<CoreId> served_cores{};  // of deadline_cores: by SCHED_DEADLINE; start() finds them
  std::size_t queue_capacity = 1024;   // dispatch.queue_capacity; also of the best-effort queue
  std::size_t max_tasks = 256;
  std::optional<std::size_t> peer_tasks{};  // of max_tasks, that one remote peer may have; 0: all; nothing: half
  std::size_t best_effort_threads = 0;      // 0: by the cores; with servers: on the core of each
  std::size_t best_effort_waiting = 64;     // threads beside them while as many wait in nested calls, likewise
  Duration best_effort_patience = std::chrono::microseconds{200};  // see ServingOptions::patience
  os::WaitStrategy best_effort_wait{os::WaitMode::adaptive};       // of threads that wait for the next request
  std::size_t best_effort_stack = 8 * 1024 * 1024;                 // of a thread; takes memory as it is used
  BestEffortServerOptions best_effort_server;
  sched::Ppm capacity = sched::default_capacity;  // of each core, platform load included
  sched::PlatformLoad platform{.budget = std::chrono::microseconds{20}, .period = std::chrono::milliseconds{1}};
  // Of the thread that reads connections, where it is held to a budget: on every core, like `platform`. No jitter.
  sched::PlatformLoad reader{.period = std::chrono::milliseconds{1}};
  bool early_jobs = false;       // pool.early_jobs: early jobs start where their core is idle
  bool charge_overruns = false;  // pool.charge_overruns: those under `report`, to their own tasks
  Duration overshoot{};     // dispatch.overshoot: firm timers for releases; >= 0, the analysis counts it as blocking
  os::WaitStrategy wait;    // pool.wait: how task threads wait for their next job
  int lowest_native = 2;    // SCHED_FIFO levels of the tasks start here ...
  int highest_native = 49;  // ... the manager has this one, tasks stay below
  bool admission = true;    // false: place and prioritize, but never refuse for lack of capacity
  bool real_time = true;    // false: no SCHED_FIFO and no binding (tests, machines without privileges)
  // Utilization that one remote peer may hold; 0: no limit. Nothing: half of the cores, and this user's and root's
  // processes have no limit.
  std::optional<sched::Ppm> peer_limit{};
  // A remote peer's task of which no job came for so long ends; 0: never. Nothing: see TaskLeases.
  std::optional<Duration> task_lease{};
  Duration peer_urgency{};              // D - J of a remote peer's task is this or more
  std::size_t stack = 256 * 1024;       // of the executive's own threads
  std::size_t task_stack = 256 * 1024;  // pool.stack: of a thread that runs a task's jobs
  std::size_t spare_threads = 4;        // that sleep until a task is admitted; see TaskThreads
  RecorderOptions recorder{};
};

// What the thread of a task may spin after each job: the analysis counts it as execution of the job.
constexpr Duration spin_of(const ExecutiveOptions& options) noexcept {
  return options.wait.mode == os::WaitMode::park ? Duration::zero() : options.wait.spin;
}

// How many tasks one remote peer may have; 0: as many as there is room for.
constexpr std::size_t peer_tasks_of(const ExecutiveOptions& options) noexcept {
  const std::size_t most = options.peer_tasks.value_or((options.max_tasks + 1) / 2);
  return most < options.max_tasks ? most : 0;
}

struct AdmissionRequest {
  Contract contract;
  PeerId owner{};  // the peer that may use the task, and with which it ends; 0: this process, any peer may use it
  std::string label;
  std::string holder{};  // whose connection `owner` is, for reports: an address, or "user 1000"
};

struct Admission {
  TaskId task;
  CoreId core;
  Priority priority;
  Duration bound;  // the analysed response, zero without admission
};

// Why nobody was admitted: what the analysis says; or the Error for which nothing was decided.
using NotAdmitted = std::variant<sched::Refusal, Error>;
// A sentence for people. Not for real-time threads.
std::string text_of(const NotAdmitted& why);

// Gets exactly one call, with the manager's lock (failed() also on the thread of this caller, of another one who finds
// the queue full, or of the one that stops the executive). Does not block.
class AdmissionHandler {
 public:
  virtual ~AdmissionHandler() = default;
  virtual void admitted(const Admission& admission) noexcept = 0;
  virtual void refused(const sched::Refusal& refusal) noexcept = 0;
  virtual void failed(Error error) noexcept = 0;  // not decided: queue full, shutting down
};

struct TaskReport {
  TaskId task;
  std::string label;
  PeerId owner;
  Contract contract;
  CoreId core;
  Priority priority;
  Duration bound;            // analysed response
  std::uint64_t jobs = 0;    // finished
  std::uint64_t misses = 0;  // finished after release + D
  std::uint64_t overruns = 0;
  std::uint64_t oversleeps = 0;                             // jobs that suspended themselves for longer than S in all
  std::uint64_t blocks = 0;                                 // jobs that waited without saying so, as far as looked at
  std::uint64_t undeclared_locks = 0;                       // of resources that the contract does not name
  std::uint64_t early = 0;                                  // came before their time and waited
  std::uint64_t refused = 0;                                // were turned away: mostly, while one waited
  Duration response_p50{}, response_p99{}, response_max{};  // from the release to the end of run()
  std::vector<Miss> latest_misses{};                        // the newest MissLog::capacity, oldest first
  bool real_time = false;                                   // its thread got SCHED_FIFO
  bool own_connection = false;                              // its thread reads one
  bool gone = false;                                        // has left; kept for the report
};

struct CoreReport {
  CoreId core;
  sched::Ppm capacity = 0;  // of the whole core: platform load and others' promises count, too
  sched::Ppm admitted = 0;
  sched::Ppm platform = 0;
  sched::Ppm others = 0;  // promised by other processes
  std::uint32_t tasks = 0;
  std::uint64_t timer_releases = 0;  // early jobs that no other event of the core released before their own timer
  std::uint64_t early_starts = 0;    // jobs that started before their time, since the core was idle
  bool guarded = true;
  bool lost = false;  // unplugged or taken back: nothing is promised there any more
  sched::CoreOrder order = sched::CoreOrder::priority;
};

struct BestEffortServerReport {
  CoreId core;
  bool granted = false;         // other processes know of it, and it has begun
  Duration used{};              // of its budget, in all
  std::uint64_t exhausted = 0;  // times that its budget ended before its work did
};

struct ExecutiveReport {
  std::vector<TaskReport> tasks;  // those that left at the end
  std::vector<CoreReport> cores;
  std::uint64_t admitted = 0;
  std::uint64_t refused = 0;              // admissions
  std::vector<RefusedNewcomer> refusals;  // the latest of them first, those of a label in one
  std::uint64_t jobs_refused = 0;         // for want of a contract's room, a task or memory
  std::uint64_t queue_full = 0;           // requests that found their queue full, or made room there for another one
  std::uint64_t best_effort_jobs = 0;
  std::size_t best_effort_threads = 0;      // that are there now
  std::uint64_t best_effort_shortages = 0;  // times that more waited in nested calls than are replaced
  std::size_t spare_threads = 0;            // that sleep until a task is admitted
  std::vector<BestEffortServerReport> best_effort_servers;
  bool promises = true;  // false: tasks were admitted whether their deadlines hold or not
};

class Executive {
 public:
  // Leases cores and starts the threads. `provider` outlives the executive. Errors: BAD_PARAM bad_option (a mode that
  // is not there, a server of best effort or cores by deadlines that make no sense: the log says what), NO_RESOURCES
  // no_core_leased, no_thread; NO_MEMORY.
  static Expected<std::unique_ptr<Executive>> start(const ExecutiveOptions& options, CoreProvider& provider);
  ~Executive();  // stop()
  Executive(const Executive&) = delete;
  Executive& operator=(const Executive&) = delete;

  // Takes the job, or leaves it with the caller: TRANSIENT queue_full, shutting_down. Blocks never, and allocates for
  // the first job of a new task only.
  Expected<void> submit(JobPtr& job) noexcept;

  // Decided on the manager's thread or on the one below the tasks, between jobs. Not for real-time threads (allocates).
  void admit(AdmissionRequest request, std::unique_ptr<AdmissionHandler> handler);
  // For start-up code: waits for the answer. Not on the manager thread, nor in a job. Errors, beside a refusal:
  // TRANSIENT queue_full, shutting_down, ledger_busy, ledger_unusable; NO_MEMORY; those of a thread's start.
  Expected<Admission, NotAdmitted> admit_and_wait(AdmissionRequest request);
  // The task ends: its waiting jobs fail (TRANSIENT unknown_task), the running one finishes, its bandwidth returns.
  // `owner` other than 0 must be the task's.
  void depart(TaskId task, PeerId owner = {}) noexcept;
  // A connection is gone; all its tasks depart.
  void peer_gone(PeerId peer) noexcept;
  // The task's thread reads its jobs from `source` from now on (mode `direct`), beside those that are submitted. Or
  // source->close(), at once or later: the task is not there, is not of this owner, or has a newer connection.
  void attach(TaskId task, PeerId owner, std::shared_ptr<JobSource> source) noexcept;

  // Whether requests without a contract run where they are read. Else they are submitted.
  bool serves_where_read() const noexcept;
  // Reads and serves the connection with ordinary threads; see ServingThreads::add().
  bool serve(std::shared_ptr<RequestSource> source) noexcept;
  // See ServingThreads::evict().
  bool evict(const std::shared_ptr<RequestSource>& source) noexcept;
  // See ServingThreads::resume().
  void resume(const std::shared_ptr<RequestSource>& source) noexcept;

  // A call was refused before it became a job: it counts among ExecutiveReport::jobs_refused.
  void note_refused_job() noexcept;

  // Not for real-time threads (allocates, waits for the manager between two steps).
  ExecutiveReport snapshot() const;

  // Who hears of jobs that missed their deadline or exceeded their contract: see TaskEvents::set().
  void on_event(TaskEventKind kind, TaskEventHandler handler);

  // Writes what was recorded to a new file and gives its path; see Recorder::dump(). Not for real-time threads.
  Expected<std::string> dump_trace(const std::string& directory = {});

  // Queued jobs fail (TRANSIENT shutting_down), running ones finish, threads end, the promises are given back.
  // Idempotent. Not in a job or handler.
  void stop();

  struct State;  // of the executive's own files: executive_state.h

 private:
  explicit Executive(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace corelane::dispatch
