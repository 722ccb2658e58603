// Simulator: the Manager and the Lanes, unchanged, on virtual cores in virtual time. Discrete events in a total order
// (time, class, sequence) with completion < replenishment < release < dispatch; the same input gives the same trace.
//
// Threads: one. Allocates as it goes.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <queue>
#include <span>
#include <unordered_map>
#include <vector>

#include "orb/base/contract.h"
#include "orb/sched/any_lane.h"
#include "orb/sched/firm_timers.h"
#include "orb/sched/manager.h"
#include "orb/sim/virtual_core.h"
#include "orb/sim/workload.h"

namespace corelane::sim {

// One task and the behaviour of its caller.
struct TaskPlan {
  Contract contract;
  Time proposed{};           // asks for admission then
  Time first_release{};      // nominal; releases follow every `every`
  Duration every{};          // zero: the contract's T
  Duration demand{};         // execution time of a job; zero: the contract's C
  Duration demand_to{};      // longer than `demand`: each job demands something in between, at random
  bool jittered = false;     // releases come up to J late, at random
  Duration sleeps_after{};   // each job suspends itself once, after so much execution ...
  Duration sleeps_for{};     // ... for so long; zero: never
  Duration stops_after{};    // how much a job still executes once it is cancelled
  Duration locks_after{};    // after so much execution a job locks the first resource of its contract ...
  Duration locks_for{};      // ... for so much; zero: never
  std::uint32_t one_in = 1;  // demand_to and sleeps_for concern one job in so many, at random
  std::optional<Time> departs{};
  PeerId peer{};
};

// A server on a core. The Manager does not know of it: charge it by Manager::set_interference(), or analyse it by hand.
struct ServerPlan {
  CoreId core{};
  sched::Server server;
  Priority priority = above_tasks;  // of its work; an IoServer takes its callers'
};

// Work without a contract, under a server.
struct WorkPlan {
  std::size_t server = 0;
  Time first{};
  Duration every{};                     // between two arrivals; zero: there is but one
  Duration demand{};                    // execution time of each
  bool random = false;                  // up to twice `every` apart, of 1 ns up to `demand`
  std::size_t room = 16;                // so many wait and run at most; more are dropped
  sched::IoCaller io{};                 // under an IoServer: on behalf of this caller, ...
  std::optional<std::size_t> caller{};  // ... or of this plan's task, once it is admitted
};

struct WorkReport {
  std::uint64_t jobs = 0;  // ended
  std::uint64_t dropped = 0;
  Duration worst{};  // the longest response
};

struct TaskReport {
  bool answered = false;
  bool admitted = false;
  bool evicted = false;
  bool displaced = false;    // its core was lost, and it went on elsewhere
  sched::Refusal refusal{};  // when answered and not admitted, or evicted
  TaskId task = no_task;
  CoreId core = no_core;      // the latest
  Duration bound{};           // R: the largest of all that were analysed while it was here
  Time startable_at = never;  // as promised, first
  Time started = never;       // when it could start
  Duration worst{};           // the longest response observed, from the nominal release
  std::uint64_t jobs = 0;     // ended
  std::uint64_t misses = 0;
  std::uint64_t refused_jobs = 0;
  std::uint64_t overruns = 0;   // found in the Lane's sense: budget or suspension
  std::uint64_t cancelled = 0;  // jobs whose answer went out before they ended; not in `worst` and `misses`
  std::uint64_t moves = 0;
};

class Simulator {
 public:
  explicit Simulator(const sched::ManagerOptions& options, std::uint64_t seed = 1);

  // The index of the plan in report().
  std::size_t add(const TaskPlan& plan);
  void lose_core(CoreId core, Time at);
  // Its connection goes, and all its tasks with it. What it proposes later is another connection's with its number.
  void lose_peer(PeerId peer, Time at);
  // The core runs by deadlines, under an EdfLane. Before its first task. The Manager knows of those whose
  // CoreOptions::order says so; of others let it admit (AdmissionTest::none) what demand_analysis() allows.
  void use_deadlines(CoreId core);
  // The same, each task under a server of its own, as SCHED_DEADLINE has it. The Manager has to know of the core.
  void use_servers(CoreId core);
  // The Lanes' timers, which are hard at first. A Lane releases whatever is due with each fact that it is told, so each
  // is a soft check. Before run().
  void use_firm_timers(Duration overshoot);
  // The index of the server; of the work. A ConstantBandwidthServer on a core by deadlines, the others on the rest.
  std::size_t add_server(const ServerPlan& plan);
  std::size_t add_work(const WorkPlan& plan);
  // Lane::allow_early() of every core; not beside servers that run below some task.
  void allow_early(bool allowed);

  // Carries out all events up to and including `until`. May be called again with a later time.
  void run(Time until);

  const TaskReport& report(std::size_t plan) const { return reports_[plan]; }
  const WorkReport& work(std::size_t index) const { return work_reports_[index]; }
  Duration served(std::size_t server) const;  // for so long its work has run
  std::size_t size() const { return reports_.size(); }
  sched::Manager& manager() { return manager_; }
  // FNV-1a over everything that happened.
  std::uint64_t trace_hash() const { return hash_; }
  std::uint64_t preemptions() const;
  std::uint64_t timer_interrupts() const { return timer_interrupts_; }  // of the Lanes' hard timers
  // Jobs that found a resource locked when they wanted it, which ceilings are there to prevent.
  std::uint64_t collisions() const { return collisions_; }
  Duration busy(CoreId core) const;
  // What the core's lane knows of its tasks; empty for a core that is lost.
  std::span<const sched::LaneTask> tasks_on(CoreId core) const;

 private:
  // The order of what happens at one instant; dispatch comes after all of them.
  enum class Class : std::uint8_t { completion, replenishment, release };
  enum class What : std::uint8_t {
    reach,
    replenished,
    wake,
    timer,
    platform,
    work,
    propose,
    release,
    depart,
    lose,
    lose_peer
  };
  struct Event {
    Time at;
    Class order;
    std::uint64_t sequence;
    What what;
    std::size_t index;      // of the core, the plan or the work
    std::uint64_t version;  // reach, replenished, timer: valid only while current; wake: the job; release: its number;
                            // lose_peer: which
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const;
  };
  struct CoreState {
    sched::CoreOptions options;
    sched::AnyLane lane;
    VirtualCore core;
    sched::FirmTimers timers{1, Duration{}};
    std::uint64_t reach_version = 0;
    std::uint64_t timer_version = 0;
    std::unordered_map<std::uint64_t, std::size_t> own_servers{};  // by task
    bool touched = false;                                          // to be dispatched
    bool lost = false;
  };
  struct JobState {
    std::size_t plan;  // or the work
    Time nominal;
    Duration demand;
    bool sleeps = false;
    bool cancelled = false;
  };

  void schedule(Time at, Class order, What what, std::size_t index, std::uint64_t version = 0);
  void happen(const Event& event);
  void reach(std::size_t core);
  void end(CoreState& core, const ReadyJob& job);
  void lock(CoreState& core, JobId job, bool locks);
  JobState draw(std::size_t plan, Time nominal);
  void release(std::size_t plan, std::uint64_t number);
  void start_platform_load(std::size_t core);
  void fire(std::size_t core);
  void arrive(std::size_t work);
  ReadyJob work_job(const WorkPlan& plan, Duration demand) const;
  std::size_t own_server(CoreState& core, TaskId task, const Contract& contract);
  void end_work(const ReadyJob& job);
  void dispatch_touched();
  void tell_manager(const sched::Fact& fact);
  void raise_bounds();
  void queue(std::span<const sched::Command> commands, CoreId from);
  void carry_out_all();
  CoreState& core_of(CoreId id);
  void leave_lost_core(sched::LaneTask& task);
  JobId new_job(const JobState& state);
  void mix(std::uint64_t value);

  void carry_out(const sched::Admit& c, CoreId from);
  void carry_out(const sched::Postpone& c, CoreId from);
  void carry_out(const sched::Place& c, CoreId from);
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
  std::priority_queue<Event, std::vector<Event>, Later> events_;
  std::uint64_t sequence_ = 0;
  std::vector<CoreState> cores_;
  std::vector<TaskPlan> plans_;
  std::vector<TaskReport> reports_;
  std::vector<JobState> jobs_;  // by JobId - 1
  struct ServerState {
    std::size_t core;    // index
    std::size_t number;  // on it
    Priority priority;
  };
  struct WorkState {
    WorkPlan plan;
    std::size_t present = 0;
  };
  std::vector<ServerState> servers_;
  std::vector<WorkState> work_;
  std::vector<WorkReport> work_reports_;
  std::uint64_t timer_interrupts_ = 0;
  struct Pending {
    sched::Command command;
    CoreId from;
  };
  std::deque<Pending> commands_;
  std::unordered_map<std::uint64_t, std::size_t> plan_by_task_;
  struct Resource {
    Priority ceiling = best_effort;
    CoreId core = no_core;
    std::optional<JobId> holder{};
  };
  std::unordered_map<std::uint32_t, Resource> resources_;  // by id
  std::uint64_t collisions_ = 0;
  std::uint64_t hash_ = 0xcbf2'9ce4'8422'2325;
};

}  // namespace corelane::sim
