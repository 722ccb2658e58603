// Executive admits a process's tasks and runs their jobs. A process has one, shared by all its ORBs.
//
//   submit() ─▶ RequestQueue, if others are first ─▶ manager's turn: sched::Manager, the CoreScheduler of the core
//                                                                                         ─▶ the task's own thread
//   submit() ─▶ best-effort queue ─▶ pool (SCHED_OTHER)                 (no task and no contract: no manager either)
//   attach() ─▶ the task's own thread reads its connection, and steps the scheduler itself  (mode `direct`)
//   submit() ─▶ the caller's own thread, at the task's priority; no manager, no scheduler    (mode `leader-followers`)
//
// Threads:
// - one manager (SCHED_FIFO, above all tasks);
// - one below all tasks on the manager's core, for admission analyses that take longer than a slice;
// - one for each admitted task (bound to its core, SCHED_FIFO by its priority);
// - a small best-effort pool, which servers may raise above the tasks.
//
// Every member may be called from any thread unless it says otherwise.
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
#include "orb/os/wait/wait.h"
#include "orb/sched/admission_test.h"
#include "orb/sched/allocation_strategy.h"
#include "orb/sched/concurrency_control.h"
#include "orb/sched/refusal.h"
#include "orb/sched/servers/reader_server.h"
#include "orb/sched/servers/reservation.h"
#include "orb/sched/task.h"

namespace corelane::dispatch {

class JobSource;
class RequestSource;
class WorstSlowdowns;

enum class DispatchMode : std::uint8_t { manager, direct, leader_followers };

// The kind of server that lets best-effort jobs run above the admitted tasks; docs/servers.md.
enum class BestEffortServer : std::uint8_t { none, sporadic, deferrable };
struct BestEffortServerOptions {
  BestEffortServer kind = BestEffortServer::none;
  sched::Reservation reservation{.budget = std::chrono::microseconds{500}, .period = std::chrono::milliseconds{10}};
  std::vector<CoreId> cores;  // each has a server, and its own threads; empty: all leased cores
};

// How a core in deadline_cores runs (docs/servers.md): by SCHED_FIFO levels that follow the deadlines, or by the
// kernel's SCHED_DEADLINE if that is available.
enum class DeadlinePolicy : std::uint8_t { levels, kernel };

struct ExecutiveOptions {
  DispatchMode mode = DispatchMode::manager;  // leader_followers: leases and promises nothing
  LeaseRequest lease;                         // pool.cores
  std::vector<CoreId> deadline_cores;  // pool.deadline_cores: those that run the earliest deadline first; not all
  DeadlinePolicy deadline_policy = DeadlinePolicy::levels;
  std::vector<CoreId> served_cores{};  // those of deadline_cores that run by SCHED_DEADLINE; start() finds them
  // leader_followers: each task is allocated to one of these cores, and the thread that read a request of it moves
  // there before it runs the job. Empty: a job runs on the core where it was read.
  std::vector<CoreId> follower_cores{};
  std::size_t queue_capacity = 1024;  // dispatch.queue_capacity; also of the best-effort queue
  std::size_t max_tasks = 256;
  std::optional<std::size_t> peer_tasks{};  // how many of max_tasks one remote peer may have; 0: all; nothing: half
  std::size_t best_effort_threads = 0;      // 0: by the number of cores; with servers: on each one's core
  std::size_t best_effort_waiting = 64;  // further threads, at most one for each that waits in a nested call; likewise
  Duration best_effort_patience = std::chrono::microseconds{200};  // see ServingOptions::patience
  sched::ServantLimit best_effort_concurrency{};                   // see ServantLimiter
  os::WaitStrategy best_effort_wait{os::WaitMode::adaptive};       // of threads that wait for the next request
  std::size_t best_effort_stack = 8 * 1024 * 1024;                 // of each thread; takes memory as it is used
  BestEffortServerOptions best_effort_server;
  sched::Ppm capacity = sched::default_capacity;  // of each core, platform load included
  sched::PlatformLoad platform{.budget = std::chrono::microseconds{20}, .period = std::chrono::milliseconds{1}};
  // The load of the thread that reads connections, if it is held to a budget: on every core, like `platform`. Its
  // jitter follows from reader_server, see reader_load().
  sched::PlatformLoad reader{.period = std::chrono::milliseconds{1}};
  sched::ReaderServer reader_server = sched::ReaderServer::sporadic;  // io.server: what holds it to that budget
  bool early_jobs = false;       // pool.early_jobs: early jobs start when their core is idle
  bool charge_overruns = false;  // pool.charge_overruns: overruns under `report` are charged to their own tasks
  Duration overshoot{};     // dispatch.overshoot: firm timers for releases, >= 0; the analysis counts it as blocking
  os::WaitStrategy wait;    // pool.wait: how task threads wait for their next job
  int lowest_native = 2;    // the lowest SCHED_FIFO level of the tasks
  int highest_native = 49;  // the manager's SCHED_FIFO level; tasks stay below it
  // dispatch.admission; never null. If it promises nothing, tasks get a core and a priority, and none is refused for
  // lack of capacity. A server refuses to start with a policy that does not work there (sched::UsableIn).
  const sched::AdmissionTest* admission_test = sched::default_admission_test();
  const sched::AllocationStrategy* allocation = sched::default_allocation_strategy();  // never null
  // Whether a new task may make other tasks move (sched::ManagerOptions). A server has no setting for it: only plans
  // and runs in virtual time write false.
  bool repack = true;
  // dispatch.slowdowns: a file, and what it says. Budgets of the analysis include these slowdowns: see BudgetCharge.
  std::string slowdowns_file{};
  std::shared_ptr<const WorstSlowdowns> slowdowns{};  // null: none
  // pool.cache_domains: the cores, in the order of their numbers, are divided evenly among so many last-level caches;
  // 0: as CoreLease::cache says.
  std::size_t cache_domains = 0;
  bool real_time = true;  // false: no SCHED_FIFO and no binding (tests, machines without privileges)
  // The utilization that one remote peer may hold; 0: no limit. Nothing: half of the cores, and no limit for processes
  // of this process's user and of root.
  std::optional<sched::Ppm> peer_limit{};
  // How long a remote peer's task may have no job before it ends; 0: forever. Nothing: see TaskLeases.
  std::optional<Duration> task_lease{};
  Duration peer_urgency{};              // the least D - J of a remote peer's task
  std::size_t stack = 256 * 1024;       // of the executive's own threads
  std::size_t task_stack = 256 * 1024;  // pool.stack: of each thread that runs a task's jobs
  std::size_t spare_threads = 4;        // threads that sleep until a task is admitted; see TaskThreads
  RecorderOptions recorder{};
};

// Returns how long a task's thread may spin after each job; the analysis counts it as execution of the job.
constexpr Duration spin_of(const ExecutiveOptions& options) noexcept {
  return options.wait.mode == os::WaitMode::park ? Duration::zero() : options.wait.spin;
}

// Returns how many tasks one remote peer may have; 0: no limit but max_tasks.
constexpr std::size_t peer_tasks_of(const ExecutiveOptions& options) noexcept {
  const std::size_t most = options.peer_tasks.value_or((options.max_tasks + 1) / 2);
  return most < options.max_tasks ? most : 0;
}

struct AdmissionRequest {
  Contract contract;
  PeerId owner{};  // the peer that may use the task, which ends with the peer; 0: this process, and any peer may use it
  std::string label;
  std::string holder{};  // the client behind `owner`, for reports: an address, or "user 1000"
};

struct Admission {
  TaskId task;
  CoreId core;
  Priority priority;
  Duration bound;  // the analysed response time; zero without admission
};

// Why a task was not admitted: the analysis's refusal, or the Error that prevented a decision.
using NotAdmitted = std::variant<sched::Refusal, Error>;
// Returns a sentence for people. Not for real-time threads.
std::string text_of(const NotAdmitted& why);

// AdmissionHandler gets exactly one call, with the manager's lock held. failed() may also be called without it, on the
// thread that calls admit() or the one that stops the executive. If the queue is full, that may be the thread of
// another caller. Must not block.
class AdmissionHandler {
 public:
  virtual ~AdmissionHandler() = default;
  virtual void admitted(const Admission& admission) noexcept = 0;
  virtual void refused(const sched::Refusal& refusal) noexcept = 0;
  virtual void failed(Error error) noexcept = 0;  // not decided, for example queue full or shutting down
};

struct TaskReport {
  TaskId task;
  std::string label;
  PeerId owner;
  Contract contract;
  CoreId core;
  Priority priority;
  Duration bound;            // analysed response time
  std::uint64_t jobs = 0;    // finished
  std::uint64_t misses = 0;  // finished after release + D
  std::uint64_t overruns = 0;
  std::uint64_t oversleeps = 0;                             // jobs whose suspensions were longer than S in total
  std::uint64_t blocks = 0;                                 // jobs that waited undeclared, among those checked
  std::uint64_t undeclared_locks = 0;                       // locks of resources that the contract does not name
  std::uint64_t early = 0;                                  // jobs that came before they were eligible, and waited
  std::uint64_t refused = 0;                                // refused jobs, mostly because another one waited
  Duration response_p50{}, response_p99{}, response_max{};  // from the release to the end of run()
  std::vector<Miss> latest_misses{};                        // the newest MissLog::capacity, oldest first
  bool real_time = false;                                   // its thread has SCHED_FIFO
  bool dedicated_connection = false;                        // its thread reads its own connection
  bool gone = false;                                        // the task has left; kept for the report
};

struct CoreReport {
  CoreId core;
  sched::Ppm capacity = 0;  // of the whole core, including platform load and others' promises
  sched::Ppm admitted = 0;
  sched::Ppm platform = 0;
  sched::Ppm others = 0;  // promised by other processes
  std::uint32_t tasks = 0;
  std::uint64_t timer_releases = 0;  // early jobs released by their own timer, not by another event
  std::uint64_t early_starts = 0;    // early jobs that started because the core was idle
  bool guarded = true;
  bool lost = false;  // unplugged or taken back; nothing is promised there any more
  sched::CoreOrder order = sched::CoreOrder::priority;
};

struct BestEffortServerReport {
  CoreId core;
  bool granted = false;         // other processes know of the server, and it has begun
  Duration used{};              // of its budget, in total
  std::uint64_t exhausted = 0;  // how often its budget ended before its work did
};

struct ExecutiveReport {
  std::vector<TaskReport> tasks;  // tasks that have left come last
  std::vector<CoreReport> cores;
  std::uint64_t admitted = 0;
  std::uint64_t refused = 0;               // admissions
  std::vector<RefusedAdmission> refusals;  // the latest first, those with the same label combined
  std::uint64_t jobs_refused = 0;  // because the contract allows no more, the task does not exist, or memory is short
  std::uint64_t queue_full = 0;    // requests that found their queue full, or were displaced by another one
  std::uint64_t best_effort_jobs = 0;
  std::size_t best_effort_threads = 0;      // that exist now
  int best_effort_concurrency = 0;          // how many servants may run in parallel now; 0: no limit
  std::uint64_t best_effort_shortages = 0;  // how often more threads waited in nested calls than can be replaced
  std::size_t spare_threads = 0;            // threads that sleep until a task is admitted
  std::vector<BestEffortServerReport> best_effort_servers;
  bool promises = true;  // false: tasks are admitted without a check of their deadlines
};

class Executive {
 public:
  // Leases cores and starts the threads. `provider` must outlive the executive. Errors: BAD_PARAM bad_option: invalid
  // SCHED_FIFO levels or a queue capacity of 0 (not logged); or a wait, best-effort server or deadline_cores that do
  // not work (the log says which). NO_RESOURCES no_core_leased, no_thread; NO_MEMORY.
  static Expected<std::unique_ptr<Executive>> start(const ExecutiveOptions& options, CoreProvider& provider);
  ~Executive();  // stop()
  Executive(const Executive&) = delete;
  Executive& operator=(const Executive&) = delete;

  // Takes the job, or leaves it with the caller: TRANSIENT queue_full, shutting_down. Never blocks. Allocates only for
  // the first job of a new task.
  Expected<void> submit(JobPtr& job) noexcept;

  // Asks for admission. The request is decided between jobs, on the manager's thread or on the one below the tasks. Not
  // for real-time threads (allocates).
  void admit(AdmissionRequest request, std::unique_ptr<AdmissionHandler> handler);
  // Does the same and waits for the answer, for start-up code. Not on the manager's thread, nor in a job. Errors,
  // beside a refusal: TRANSIENT queue_full, shutting_down, ledger_busy, ledger_unusable; NO_MEMORY; those of starting a
  // thread.
  Expected<Admission, NotAdmitted> admit_and_wait(AdmissionRequest request);
  // Ends the task. Its waiting jobs fail (TRANSIENT unknown_task), the running one finishes, and its capacity is free
  // again. `owner`, unless 0, must be the task's.
  void depart(TaskId task, PeerId owner = {}) noexcept;
  // Ends all tasks of the peer, because its connection is gone.
  void peer_gone(PeerId peer) noexcept;
  // Makes the task's thread read jobs from `source` from now on (mode `direct`), beside those that are submitted. If
  // the task does not exist, has another owner, or has a newer connection, calls source->close(), at once or later.
  void attach(TaskId task, PeerId owner, std::shared_ptr<JobSource> source) noexcept;

  // Returns whether requests without a contract run where they are read. Otherwise they are submitted.
  bool serves_where_read() const noexcept { return serves_where_read_; }
  // Reads and serves the connection with ordinary threads; see ServingThreads::add().
  bool serve(std::shared_ptr<RequestSource> source) noexcept;
  // Ends the connection to make room for another one; see ServingThreads::evict().
  bool evict(const std::shared_ptr<RequestSource>& source) noexcept;
  // Lets a connection that was blocked go on; see ServingThreads::resume().
  void resume(const std::shared_ptr<RequestSource>& source) noexcept;

  // Counts a call that was refused before it became a job, in ExecutiveReport::jobs_refused.
  void note_refused_job() noexcept;

  // Returns the current counters. Not for real-time threads (allocates, and waits for the manager to end its step).
  ExecutiveReport snapshot() const;

  // Sets the handler for jobs that missed their deadline or exceeded their contract; see TaskEvents::set().
  void on_event(TaskEventKind kind, TaskEventHandler handler);

  // Writes the recorded events to a new file and returns its path; see Recorder::dump(). Not for real-time threads.
  Expected<std::string> dump_trace(const std::string& directory = {});

  // Stops the executive. Queued jobs fail (TRANSIENT shutting_down), running ones finish, threads end, and the promises
  // are given back. Idempotent. Do not call it in a job or handler.
  void stop();

  struct State;  // for the executive's own files: executive_state.h

 private:
  explicit Executive(std::unique_ptr<State> state);

  const std::unique_ptr<State> state_;
  const bool serves_where_read_;
};

}  // namespace corelane::dispatch
