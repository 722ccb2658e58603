// Simulator runs the unchanged Manager and CoreSchedulers on virtual cores in virtual time. Discrete events have a
// total order (time, class, sequence) with completion < replenishment < release < dispatch. The same input gives the
// same trace.
//
// Threads: one. Allocates at any time.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "orb/base/contract.h"
#include "orb/sched/manager.h"
#include "orb/sched/schedulers/any_scheduler.h"
#include "orb/sched/schedulers/firm_timers.h"
#include "orb/sim/event_queue.h"
#include "orb/sim/job_source.h"
#include "orb/sim/multicore_simulator.h"
#include "orb/sim/stop_check.h"
#include "orb/sim/virtual_core.h"
#include "orb/sim/virtual_resources.h"
#include "orb/sim/workload.h"

namespace corelane::sim {

// One task and the behavior of its caller.
struct TaskPlan {
  Contract contract;
  Time proposed{};           // when the caller asks for admission
  Time first_release{};      // the first nominal release; others follow at intervals of `every`
  Duration every{};          // zero: the contract's T
  Duration demand{};         // execution time of a job; zero: the contract's C
  Duration demand_to{};      // if longer than `demand`: the demand of each job is random in between
  bool jittered = false;     // releases are late by a random time of at most J
  Duration sleeps_after{};   // each job suspends itself once, after this execution time ...
  Duration sleeps_for{};     // ... for this long; zero: never
  Duration stops_after{};    // how long a job still executes after it is cancelled
  Duration locks_after{};    // after this execution time a job locks its contract's first resource ...
  Duration locks_for{};      // ... for this execution time; zero: never
  std::uint32_t one_in = 1;  // demand_to and sleeps_for apply to one job in `one_in`, at random
  std::optional<Time> departs{};
  PeerId peer{};
  CoreId core = no_core;  // the core where it has to be admitted; no_core: the Manager chooses
};

// A server on a core. The Manager does not know it: charge it with Manager::set_interference(), or analyze it by hand.
struct ServerPlan {
  CoreId core{};
  sched::Server server;
  Priority priority = above_tasks;  // of its work; an IoServer has the priority of its caller
};

// Work without a contract, under a server.
struct WorkPlan {
  std::size_t server = 0;
  Time first{};
  Duration every{};                     // between two arrivals; zero: only one arrival
  Duration demand{};                    // execution time of each job
  bool random = false;                  // random intervals up to twice `every`, random demand from 1 ns to `demand`
  std::size_t room = 16;                // at most so many jobs wait or run; others are dropped
  sched::IoCaller io{};                 // for an IoServer: the caller for which it works, ...
  std::optional<std::size_t> caller{};  // ... or the plan whose task is the caller once it is admitted
};

struct WorkReport {
  std::uint64_t jobs = 0;  // number of jobs that ended
  std::uint64_t dropped = 0;
  Duration worst{};  // the longest response
};

struct TaskReport {
  bool answered = false;
  bool admitted = false;
  bool evicted = false;
  bool displaced = false;    // its core was lost, and it continued on another one
  sched::Refusal refusal{};  // valid if answered and not admitted, or if evicted
  TaskId task = no_task;
  CoreId core = no_core;      // the latest core
  Duration bound{};           // R: the largest analyzed bound during the life of the task
  Time startable_at = never;  // the first promise
  Time started = never;       // when the task could start
  Duration worst{};           // the longest observed response, from the nominal release
  std::uint64_t jobs = 0;     // number of jobs that ended
  std::uint64_t misses = 0;
  std::uint64_t refused_jobs = 0;
  std::uint64_t overruns = 0;   // as the CoreScheduler counts them: of budget or suspension
  std::uint64_t cancelled = 0;  // jobs answered before their end; not in `worst` and `misses`
  std::uint64_t moves = 0;
};

class Simulator {
 public:
  explicit Simulator(const sched::ManagerOptions& options, std::uint64_t seed = 1);

  // Adds a plan. Returns its index for report().
  std::size_t add(const TaskPlan& plan);
  void lose_core(CoreId core, Time at);
  // Closes the connection of the peer at `at` and ends all its tasks. If the peer proposes a task later, that counts as
  // another connection with the same number.
  void lose_peer(PeerId peer, Time at);
  // Makes the core run by deadlines, with an EdfScheduler. Call it before its first task. The Manager knows of such a
  // core if its CoreOptions::order says so. For other cores, let the Manager admit every task (sched::admission::none)
  // and add only what demand_analysis() allows.
  void use_deadlines(CoreId core);
  // Does the same, and gives each task its own server, like SCHED_DEADLINE. The Manager must know of the core.
  void use_servers(CoreId core);
  // Makes the CoreSchedulers' timers firm; at first they are hard. With each fact a CoreScheduler releases all jobs
  // that are due, so each fact is a soft check. Call it before run().
  void use_firm_timers(Duration overshoot);
  // Add a server or its work and return its index. On a core that runs by deadlines, add only a
  // ConstantBandwidthServer; on other cores, add the other kinds.
  std::size_t add_server(const ServerPlan& plan);
  std::size_t add_work(const WorkPlan& plan);
  // Takes the jobs of every plan from the source, in place of `every`, `demand`, `demand_to` and `jittered`. Their
  // releases count from TaskPlan::first_release. The source must outlive the Simulator. Call it before run().
  void use_jobs(JobSource& source) { source_ = &source; }
  // Returns a factor in millionths: how much longer the tasks of plan `plan` execute while a task of plan `beside` runs
  // on another core of the same cache. It is no_slowdown or more.
  using SlowdownOf = std::function<std::int64_t(std::size_t plan, std::size_t beside)>;
  // Makes tasks slower that run at the same time on cores that share a cache (CoreOptions::cache). Each task that runs
  // beside another one adds what its factor exceeds no_slowdown by. Call it before run().
  void use_slowdown(SlowdownOf factor) { slowdown_ = std::move(factor); }
  // Tells the observer of the jobs of tasks. It must outlive the Simulator. Jobs that their task refuses or cancels do
  // not finish. FinishedJob::preemptions and ::migrations are not counted.
  void observe(JobObserver& observer) { observer_ = &observer; }
  // Calls CoreScheduler::allow_early() for every core. Do not allow it beside servers that run below a task.
  void allow_early(bool allowed);

  // Makes run() end early, before its time, once `asked` has returned true. run() asks it from time to time.
  void stop_when(std::function<bool()> asked) { stop_ = StopCheck(std::move(asked)); }
  // Processes all events up to and including `until`. May be called again with a later time.
  void run(Time until);
  bool stopped() const { return stop_.stopped(); }  // a run has ended early

  const TaskReport& report(std::size_t plan) const { return reports_[plan]; }
  const WorkReport& work(std::size_t index) const { return work_[index].report; }
  Duration served(std::size_t server) const;  // how long its work has run
  std::size_t size() const { return reports_.size(); }
  sched::Manager& manager() { return manager_; }
  // Returns an FNV-1a hash over all that happened.
  std::uint64_t trace_hash() const { return hash_; }
  std::uint64_t preemptions() const;
  // Returns the number of interrupts of the CoreSchedulers' hard timers.
  std::uint64_t timer_interrupts() const { return timer_interrupts_; }
  // Returns how many jobs found their resource locked. Ceilings prevent this.
  std::uint64_t collisions() const { return resources_.collisions(); }
  Duration busy(CoreId core) const;
  // Returns the tasks in the core scheduler of the core, or nothing if the core is lost.
  std::span<const sched::ScheduledTask> tasks_on(CoreId core) const;

 private:
  using Event = EventQueue::Event;
  using Class = EventQueue::Class;
  using What = EventQueue::What;
  struct CoreState {
    sched::CoreOptions options;
    sched::AnyScheduler scheduler;
    VirtualCore core;
    sched::FirmTimers timers{1, Duration{}};
    std::uint64_t reach_version = 0;
    std::uint64_t timer_version = 0;
    std::unordered_map<std::uint64_t, std::size_t> own_servers{};  // by task id
    bool touched = false;                                          // needs a dispatch
    bool lost = false;
    std::optional<ExecutedSlice> slice{};  // for the observer: the job of a task that runs; its end is not known
  };
  struct JobState {
    std::size_t plan;  // index of the plan or the work
    Time nominal;
    Duration demand;
    bool sleeps = false;
    bool cancelled = false;
    bool is_of_task = false;  // neither platform load nor work without a contract
    std::uint64_t number = 0;
    Time arrival{};
    Time started = never;
  };

  void schedule(Time at, Class order, What what, std::size_t index, std::uint64_t version = 0);
  void happen(const Event& event);
  void wake(CoreState& core, JobId job);
  void lose(CoreState& core);
  void reach(std::size_t core);
  void end(CoreState& core, const ReadyJob& job);
  void lock(CoreState& core, JobId job, bool locks);
  JobState draw(std::size_t plan, Time nominal);
  void release(std::size_t plan, std::uint64_t number);
  void release_next(std::size_t plan, std::uint64_t number);
  void schedule_next(std::size_t plan, std::uint64_t number);
  void arrive_at_manager(JobState state, std::uint64_t number);
  void tell_dispatch(CoreState& core);
  void end_slice(CoreState& core);
  void tell_end(CoreState& core, const JobState& state);
  void start_platform_load(std::size_t core);
  void fire(std::size_t core);
  void arrive(std::size_t work);
  ReadyJob work_job(const WorkPlan& plan, Duration demand) const;
  std::size_t own_server(CoreState& core, TaskId task, const Contract& contract);
  void end_work(const ReadyJob& job);
  void dispatch_touched();
  void dispatch(std::size_t core);
  void slow_down();
  std::optional<std::size_t> running_plan(const CoreState& core) const;
  void propose(std::size_t plan);
  void close_others(CoreId core, bool closed);
  void tell_manager(const sched::Fact& fact);
  void raise_bounds();
  void queue(std::span<const sched::Command> commands, CoreId from);
  void carry_out_all();
  CoreState& core_of(CoreId id);
  void leave_lost_core(sched::ScheduledTask& task);
  JobId new_job(const JobState& state);
  void mix(std::uint64_t value);

  void carry_out(const sched::Admit& c, CoreId from);
  void carry_out(const sched::Postpone& c, CoreId from);
  void carry_out(const sched::Dispatch& c, CoreId from);
  void carry_out(const sched::Reprioritize& c, CoreId from);
  void carry_out(const sched::Ceiling& c, CoreId from);
  void carry_out(const sched::Vacate& c, CoreId from);
  void carry_out(const sched::Move& c, CoreId from);
  void carry_out(const sched::Dismiss& c, CoreId from);
  void carry_out(const sched::Evict& c, CoreId from);
  void carry_out(const sched::Refuse& c, CoreId from);
  void carry_out(const sched::Run& c, CoreId from);
  void carry_out(const sched::Defer&, CoreId) {}
  void carry_out(const sched::Demote& c, CoreId from);
  void carry_out(const sched::Cancel& c, CoreId from);
  void carry_out(const sched::Watch& c, CoreId from);
  void carry_out(const sched::Arm& c, CoreId from);
  void carry_out(const sched::ReportVacated& c, CoreId from);
  void carry_out(const sched::Joined& c, CoreId from);

  sched::Manager manager_;
  Random random_;
  Time now_{};
  EventQueue events_;
  std::vector<CoreState> cores_;
  std::vector<TaskPlan> plans_;
  std::vector<TaskReport> reports_;
  std::vector<JobState> jobs_;  // index: JobId - 1
  struct ServerState {
    std::size_t core;    // index
    std::size_t number;  // index of the server on that core
    Priority priority;
  };
  struct WorkState {
    WorkPlan plan;
    std::size_t present = 0;
    WorkReport report{};
  };
  std::vector<ServerState> servers_;
  std::vector<WorkState> work_;
  std::uint64_t timer_interrupts_ = 0;
  struct Pending {
    sched::Command command;
    CoreId from;
  };
  std::deque<Pending> commands_;
  std::unordered_map<std::uint64_t, std::size_t> plan_by_task_;
  VirtualResources resources_;
  JobSource* source_ = nullptr;
  std::vector<JobRelease> next_jobs_;  // by plan, if there is a source: the job whose release is scheduled
  JobObserver* observer_ = nullptr;
  SlowdownOf slowdown_{};  // empty: no task is slowed down
  StopCheck stop_{};
  std::uint64_t hash_ = 0xcbf2'9ce4'8422'2325;
};

}  // namespace corelane::sim
