// ManagedTasks assembles the leases and threads of the executive, and ends them in order. The agents do the work.
#include "orb/dispatch/manager/managed_tasks.h"

#include <algorithm>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "orb/base/minor.h"
#include "orb/base/thread_safety.h"
#include "orb/dispatch/best_effort/best_effort_executor.h"
#include "orb/dispatch/cores/budget_thread.h"
#include "orb/dispatch/cores/idle_threads.h"
#include "orb/dispatch/cores/sched_deadline_cores.h"
#include "orb/dispatch/cores/task_threads.h"
#include "orb/dispatch/manager/end_requests.h"
#include "orb/dispatch/manager/manager_agent.h"
#include "orb/dispatch/serving/serving_threads.h"
#include "orb/dispatch/telemetry/lateness_log.h"
#include "orb/os/lock.h"
#include "orb/os/log.h"
#include "orb/os/machine/core_list.h"
#include "orb/os/mutex.h"
#include "orb/os/thread.h"
#include "orb/os/wait/agent_thread.h"
#include "orb/sched/share.h"

namespace corelane::dispatch {
namespace {

// How many levels above the manager the thread runs that watches budgets. That one thread for all cores must not wait
// for the manager on any core. It also runs above the reader at its default priority. If the system refuses the level,
// the thread has the manager's level.
constexpr int levels_above_manager = 2;

std::string text_of(const std::vector<CoreLease>& leases) {
  std::vector<CoreId> cores;
  for (const CoreLease& lease : leases) cores.push_back(lease.core);
  std::ranges::sort(cores);
  return os::core_list_text(cores);
}

std::vector<AperiodicServer*> servers_of(BestEffortExecutor& executor) {
  std::vector<AperiodicServer*> result;
  for (std::size_t i = 0; i < executor.servers().size(); ++i) result.push_back(&executor.servers().server(i));
  return result;
}

// Returns what is wrong with the options of the best-effort server, given the leases.
std::optional<std::string> fault_of(const ExecutiveOptions& options, const std::vector<CoreLease>& leases) {
  const BestEffortServerOptions& server = options.best_effort_server;
  if (server.kind == BestEffortServer::none) return std::nullopt;
  for (const CoreId core : server.cores)
    if (std::none_of(leases.begin(), leases.end(), [&](const CoreLease& lease) { return lease.core == core; }))
      return "best_effort.cores names core " + std::to_string(core.value) + ", which is none of pool.cores";
  return sched::fault_of("best_effort", server.reservation);
}

// Returns which policy of a plan or a simulation does not work here.
std::optional<std::string> fault_of_policies(const ExecutiveOptions& options) {
  if (!options.admission_test->usable_in.server)
    return "dispatch.admission " + std::string(options.admission_test->name) + " does not work in a server; " +
           std::string(options.admission_test->instead);
  if (!options.allocation->usable_in.server)
    return "dispatch.allocation " + std::string(options.allocation->name) + " does not work in a server; use " +
           std::string(sched::default_allocation_strategy()->name);
  return std::nullopt;
}

// Returns what is wrong with the deadline-scheduled cores.
std::optional<std::string> fault_of_deadlines(const ExecutiveOptions& options, const std::vector<CoreLease>& leases) {
  for (const CoreId core : options.deadline_cores)
    if (std::none_of(leases.begin(), leases.end(), [&](const CoreLease& lease) { return lease.core == core; }))
      return "pool.deadline_cores names core " + std::to_string(core.value) + ", which is none of pool.cores";
  if (!options.deadline_cores.empty() && options.deadline_cores.size() >= leases.size())
    return "pool.deadline_cores names all of pool.cores: leave out at least one, because the manager needs a core by "
           "priorities";
  return std::nullopt;
}

// Returns what is wrong with the best-effort server on cores where the kernel's SCHED_DEADLINE precedes it.
std::optional<std::string> fault_beside_kernel(const ExecutiveOptions& options) {
  const BestEffortServerOptions& server = options.best_effort_server;
  if (server.kind == BestEffortServer::none) return std::nullopt;
  for (const CoreId core : server.cores)
    if (std::find(options.served_cores.begin(), options.served_cores.end(), core) != options.served_cores.end())
      return "best_effort.cores names core " + std::to_string(core.value) +
             ", where SCHED_DEADLINE (pool.deadline_policy) goes before every server";
  return std::nullopt;
}

// A period of zero: there is no load.
sched::Ppm share_of(Duration budget, Duration period) {
  return period == Duration::zero() ? 0 : sched::ppm_of(sched::share_of(budget.count(), period.count()));
}

std::string mode_of(const ExecutiveOptions& options) {
  return options.mode == DispatchMode::direct ? "; mode direct" : "";
}

std::string waiting_of(const ExecutiveOptions& options) {
  if (options.wait.mode == os::WaitMode::park) return {};
  return "; tasks wait by " + std::string(os::name_of(options.wait.mode)) + ", " + to_string(options.wait.spin) +
         " at most";
}

LeaseRequest request_of(const ExecutiveOptions& options) {
  LeaseRequest request = options.lease;
  request.by_deadlines = options.deadline_cores;
  return request;
}

// The manager takes the first core, which must be scheduled by priority.
void put_deadline_cores_last(const ExecutiveOptions& options, std::vector<CoreLease>& leases) {
  const auto& cores = options.deadline_cores;
  std::stable_partition(leases.begin(), leases.end(), [&](const CoreLease& lease) {
    return std::find(cores.begin(), cores.end(), lease.core) == cores.end();
  });
}

// Without SCHED_FIFO, a server cannot raise its threads.
ExecutiveOptions without_vain_server(ExecutiveOptions options) {
  if (options.real_time || options.best_effort_server.kind == BestEffortServer::none) return options;
  os::log::warn("best_effort.server does nothing while pool.real_time is off");
  options.best_effort_server.kind = BestEffortServer::none;
  return options;
}

LatenessLog::Recorded recorded(const RecorderOptions& options) {
  if (options.size == 0) return LatenessLog::Recorded::switched_off;
  return options.dump_at_exit ? LatenessLog::Recorded::dumped_at_exit : LatenessLog::Recorded::yes;
}

// Returns the text about deadline-scheduled cores. SchedDeadlineCores logs those under the kernel's policy itself.
std::string deadlines_of(const ExecutiveOptions& options) {
  if (options.deadline_cores.empty() || !options.served_cores.empty()) return {};
  return "; by deadlines " + os::core_list_text(options.deadline_cores);
}

// Returns the number of threads of the executor. They run submitted requests, which are few if requests run where they
// are read.
std::size_t executor_threads(const ExecutiveOptions& options) {
  constexpr std::size_t few = 2;
  return options.best_effort_threads == 0 ? few : options.best_effort_threads;
}

ServingOptions serving_options(const ExecutiveOptions& options) {
  // So many busy connections have one thread each. One client opens at most as many (client.connections = auto).
  constexpr std::size_t fewest = 64, for_each_core = 4, leader = 1;
  const std::size_t by_cores = std::max(fewest, for_each_core * std::thread::hardware_concurrency()) + leader;
  return {.running = options.best_effort_threads == 0 ? by_cores : options.best_effort_threads,
          .detached = options.best_effort_waiting,
          .patience = options.best_effort_patience,
          .stack = options.best_effort_stack,
          .servants = options.best_effort_concurrency};
}

// ManagedTasks runs tasks on cores of their own: the modes `manager` and `direct`.
class ManagedTasks final : public Executive::State {
 public:
  ManagedTasks(const ExecutiveOptions& options, const std::vector<CoreLease>& leases, CoreProvider& provider,
               SchedDeadlineCores sched_deadline_cores)
      : sched_deadline_cores_(std::move(sched_deadline_cores)),
        threads_(options.real_time, options.task_stack, options.spare_threads),
        best_effort_(options.queue_capacity, BestEffortServers(options, leases)),
        serves_where_read_(options.best_effort_server.kind == BestEffortServer::none),
        serving_(serving_options(options)),
        manager_(options, leases, provider, threads_, best_effort_),
        lateness_(
            events, [this](TaskId task) { return label_of(task); }, recorded(options.recorder)),
        end_requests_(options.recorder.runtime_directory, [this](TaskId task) { return manager_.end(task); }),
        manager_thread_(manager_, os::WritesFiles::yes),
        analysis_thread_(manager_.below(), os::WritesFiles::yes),
        housekeeper_thread_(manager_.housekeeper()),
        budgets_(manager_.pools(), servers_of(best_effort_)),
        idle_(manager_.pools(), leases, provider),
        sees_others_(provider.sees_others()) {}

  Expected<void> start(const ExecutiveOptions& options, CoreId manager_core);

  Pushed submit(JobPtr& job) noexcept override {
    const bool without_contract = job->task == no_task && !job->contract;
    return without_contract ? best_effort_.submit(job) : manager_.hand_in(job);
  }
  void admit(AdmissionRequest request, std::unique_ptr<AdmissionHandler> handler) override {
    manager_.admit(std::move(request), std::move(handler));
  }
  void depart(TaskId task, PeerId owner) noexcept override { manager_.depart(task, owner); }
  void peer_gone(PeerId peer) noexcept override { manager_.peer_gone(peer); }
  void attach(TaskId task, PeerId owner, std::shared_ptr<JobSource> source) noexcept override {
    manager_.attach(task, owner, std::move(source));
  }
  bool serves_where_read() const noexcept override { return serves_where_read_; }
  bool serve(std::shared_ptr<RequestSource> source) noexcept override { return serving_.add(std::move(source)); }
  bool evict(const std::shared_ptr<RequestSource>& source) noexcept override { return serving_.evict(source); }
  void resume(const std::shared_ptr<RequestSource>& source) noexcept override { serving_.resume(source); }
  void note_refused_job() noexcept override { manager_.note_refused_job(); }
  ExecutiveReport report() const override { return manager_.report(); }
  Expected<std::string> dump_trace(const std::string& directory) override {
    return manager_.recorder().dump(sched::TraceReason::request, directory);
  }
  void stop() noexcept override;

 private:
  std::string label_of(TaskId task) const;
  Expected<void> start_early_jobs(const ExecutiveOptions& options);

  SchedDeadlineCores sched_deadline_cores_;  // ends after the threads
  TaskThreads threads_;
  BestEffortExecutor best_effort_;
  const bool serves_where_read_;
  ServingThreads serving_;
  ManagerAgent manager_;
  LatenessLog lateness_;
  EndRequests end_requests_;
  os::AgentThread<ManagerAgent> manager_thread_;
  os::AgentThread<ManagerAgent::Below> analysis_thread_;
  os::AgentThread<Housekeeper> housekeeper_thread_;
  BudgetThread budgets_;
  IdleThreads idle_;
  const bool sees_others_;
  os::Mutex stop_mutex_;
  bool stopped_ CORELANE_GUARDED_BY(stop_mutex_) = false;
};

Expected<void> ManagedTasks::start(const ExecutiveOptions& options, CoreId manager_core) {
  manager_.tell_events_to(events);
  manager_.housekeeper().keep(lateness_, LatenessLog::period);
  manager_.housekeeper().keep(end_requests_, EndRequests::period);
  manager_.housekeeper().sleep_when_idle(options.recorder.runtime_directory,
                                         [this] { return !manager_.misses_core(); });
  const BestEffortThreadPool::Size size{
      .running = executor_threads(options), .waiting = options.best_effort_waiting, .stack = options.best_effort_stack};
  if (auto started = best_effort_.start(size); !started) return started;
  best_effort_.count_also(serving_);
  if (serves_where_read_)
    if (auto started = serving_.start(); !started) return started;
  if (auto started = housekeeper_thread_.start({.name = "cl-housekeeper", .stack = options.stack}); !started)
    return started;
  os::ThreadOptions own{.name = "cl-manager", .stack = options.stack};
  if (options.real_time) own.core = manager_core, own.fifo_priority = options.highest_native;
  if (auto started = manager_thread_.start(std::move(own)); !started) return started;
  os::ThreadOptions below{.name = "cl-analysis", .stack = options.stack};
  if (options.real_time) below.core = manager_core;
  if (auto started = analysis_thread_.start(std::move(below)); !started) return started;
  os::ThreadOptions above{.name = "cl-budgets", .stack = options.stack};
  if (options.real_time) above.fifo_priority = options.highest_native;
  if (auto started = budgets_.start(std::move(above)); !started) return started;
  if (options.real_time) budgets_.raise(options.highest_native + levels_above_manager);
  return start_early_jobs(options);
}

// Early jobs need a level of their own below the tasks' levels, and therefore SCHED_FIFO.
Expected<void> ManagedTasks::start_early_jobs(const ExecutiveOptions& options) {
  if (!options.early_jobs) return {};
  if (!options.real_time || options.lowest_native < 2) {
    os::log::warn("pool.early_jobs does nothing without SCHED_FIFO (pool.real_time = on)");
    return {};
  }
  if (!sees_others_) {
    os::log::warn(
        "pool.early_jobs does nothing without the host's ledger (runtime.ledger = on), which says which servers use "
        "the cores");
    return {};
  }
  const BestEffortServerOptions& server = options.best_effort_server;
  sched::Ppm share = options.capacity - share_of(options.platform.budget, options.platform.period) -
                     share_of(options.reader.budget, options.reader.period);
  if (server.kind != BestEffortServer::none) share -= share_of(server.reservation.budget, server.reservation.period);
  return idle_.start({.native = options.lowest_native - 1, .share = share, .stack = options.stack});
}

std::string ManagedTasks::label_of(TaskId task) const {
  for (const TaskReport& report : manager_.report().tasks)
    if (report.task == task) return report.label;
  return "";
}

// Stops the manager first, so that nothing new reaches a task. Then stops the housekeeper's thread, whose work
// shut_down() ends.
void ManagedTasks::stop() noexcept {
  const os::LockGuard lock(stop_mutex_);
  if (std::exchange(stopped_, true)) return;
  idle_.stop();
  manager_thread_.stop();
  analysis_thread_.stop();
  housekeeper_thread_.stop();
  manager_.shut_down(os::now());
  budgets_.stop();  // not earlier: running jobs may have to be told to stop
  lateness_.end();
  manager_.recorder().end();
  serving_.stop();
  best_effort_.stop();
}

}  // namespace

Expected<std::unique_ptr<Executive::State>> start_managed_tasks(const ExecutiveOptions& wanted,
                                                                CoreProvider& provider) {
  ExecutiveOptions options = without_vain_server(wanted);
  auto leases = provider.lease(request_of(options));
  if (!leases) return leases.error();
  auto fault = fault_of_policies(wanted);
  if (!fault) fault = fault_of(wanted, *leases);
  if (!fault) fault = fault_of_deadlines(wanted, *leases);
  SchedDeadlineCores sched_deadline_cores;
  if (!fault) sched_deadline_cores = SchedDeadlineCores(options);
  options.served_cores = sched_deadline_cores.cores();
  if (!fault) fault = fault_beside_kernel(options);
  if (fault) {
    os::log::error(*fault);
    return Error{.kind = ErrorKind::bad_param, .minor = minor::bad_option};
  }
  put_deadline_cores_last(options, *leases);
  os::log::info("tasks may run on cores " + text_of(*leases) + deadlines_of(options) +
                (options.charge_overruns ? "; overruns charged" : "") + mode_of(options) + waiting_of(options) +
                (options.admission_test->promises ? "" : "; admission is off"));
  auto state = std::make_unique<ManagedTasks>(options, *leases, provider, std::move(sched_deadline_cores));
  if (auto started = state->start(options, leases->front().core); !started) {
    state->stop();
    return started.error();
  }
  return std::unique_ptr<Executive::State>(std::move(state));
}

}  // namespace corelane::dispatch
