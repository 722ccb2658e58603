#include "orb/dispatch/manager/manager_agent.h"

#include <mutex>
#include <new>
#include <utility>

#include "orb/base/errors.h"
#include "orb/dispatch/job_source.h"
#include "orb/dispatch/manager_options.h"
#include "orb/dispatch/records/task_reports.h"
#include "orb/os/lock.h"
#include "orb/os/privileges.h"
#include "orb/os/thread.h"

namespace corelane::dispatch {
namespace {

// Returns the cores for the counter page. A process that takes no tasks has none, whatever its leases are.
std::vector<CoreCounters> core_counters(const ExecutiveOptions& options, const std::vector<CoreLease>& leases) {
  std::vector<CoreCounters> result;
  if (options.max_tasks == 0) return result;
  for (const CoreLease& lease : leases)
    result.push_back({.core = lease.core, .capacity = options.capacity, .order = order_of(options, lease.core)});
  return result;
}

PromiseConditions conditions_of(const ExecutiveOptions& options, const CoreProvider& provider) {
  return {.guarantee = options.admission_test->promises ? Guarantee::bounds : Guarantee::placement,
          .direct = options.mode == DispatchMode::direct,
          .real_time = options.real_time && os::privileges().fifo,
          .guarded = provider.sees_others()};
}

// Makes an admission request of the first job of a task. Returns null, and leaves the job, if there is no memory.
AdmissionCandidatePtr candidate_of(JobPtr& job, Time now) noexcept try {
  auto candidate = std::make_unique<AdmissionCandidate>();
  candidate->contract = *job->contract;
  candidate->owner = job->owner;
  candidate->label = job->label;
  candidate->asked = now;
  candidate->job = std::move(job);
  return candidate;
} catch (const std::bad_alloc&) {
  return nullptr;
}

}  // namespace

ManagerAgent::ManagerAgent(const ExecutiveOptions& options, const std::vector<CoreLease>& leases,
                           CoreProvider& provider, ThreadMaker& maker, BestEffortExecutor& best_effort,
                           const Clock& clock)
    : options_(options),
      leases_(leases),
      clock_(clock),
      best_effort_(best_effort),
      inbox_(options.max_tasks, parker_),
      queue_(options.queue_capacity),
      hints_(options.max_tasks),
      recorder_(options.recorder, manager_options(options, leases), options.max_tasks),
      counters_(options.recorder.runtime_directory, core_counters(options, leases), options.max_tasks, best_effort,
                refusals_, conditions_of(options, provider)),
      housekeeper_(maker, provider, inbox_, options.max_tasks),
      core_watch_(leases, provider, inbox_),
      below_(*this, leases.front().core),
      departures_(options.max_tasks),
      driver_(options_, leases_, provider, clock_,
              {.admissions = admissions_,
               .best_effort = best_effort,
               .notes = inbox_,
               .recorder = recorder_,
               .refusals = refusals_},
              {.housekeeper = housekeeper_,
               .counters = counters_,
               .hints = hints_,
               .departures = departures_,
               .below = below_.parker()}),
      cycle_(driver_,
             {.notes = inbox_, .jobs = queue_, .departures = departures_, .admissions = admissions_, .peers = peers_},
             options.platform, clock_) {
  core_watch_.keep_lost(options.served_cores);
  core_watch_.on_return([this] {
    housekeeper_.rebind_threads();
    best_effort_.rebind();
  });
  if (options.max_tasks > 0) housekeeper_.keep(core_watch_, CoreWatch::period);  // without tasks a core is not missed
  housekeeper_.keep(recorder_, recorder_.period());
  housekeeper_.keep(counters_, CounterPageWriter::period);
}

// No analysis: only step() changes this time, and the same thread calls both.
Time ManagerAgent::wake_at() const noexcept CORELANE_NO_THREAD_SAFETY_ANALYSIS { return cycle_.wake_at(); }

// No analysis: the pools are made in the constructor, and remain.
std::span<const std::unique_ptr<CorePool>> ManagerAgent::pools() const noexcept CORELANE_NO_THREAD_SAFETY_ANALYSIS {
  return driver_.pools().all();
}

// No analysis: runs before the agent has threads.
void ManagerAgent::tell_events_to(TaskEvents& events) noexcept CORELANE_NO_THREAD_SAFETY_ANALYSIS {
  driver_.tasks().tell_events_to(events);
}

Pushed ManagerAgent::submit(JobPtr& job) noexcept {
  if (job->task == no_task) return ask_for_task(std::move(job)), Pushed::done;
  const Pushed pushed = enqueue(job);
  if (pushed == Pushed::done) parker_.unpark();
  return pushed;
}

Pushed ManagerAgent::hand_in(JobPtr& job) noexcept {
  if (job->task == no_task) return ask_for_task(std::move(job)), Pushed::done;
  if (dispatch_at_once(job)) return Pushed::done;
  const Pushed pushed = enqueue(job);
  if (pushed == Pushed::done && !take_turn()) parker_.unpark();
  return pushed;
}

void ManagerAgent::ask_for_task(JobPtr job) noexcept {
  const Time now = clock_.now();
  AdmissionCandidatePtr candidate = candidate_of(job, now);
  if (!candidate) return job->fail(errors::no_memory);
  if (!admissions_.push(std::move(candidate))) counters_.note_queue_full();
  wake_for_candidate(now);
}

// Dispatches the job without the queue, if no other job has to go first. False: the caller still has the job.
bool ManagerAgent::dispatch_at_once(JobPtr& job) noexcept {
  if (!state_mutex_.try_lock()) return false;
  const os::LockGuard lock(state_mutex_, std::adopt_lock);
  return cycle_.dispatch(job);
}

// Dispatches what is queued. False: the manager's thread has to look. If the lock is taken, the job stays in the queue,
// because the holder of the lock may have looked there already.
bool ManagerAgent::take_turn() noexcept {
  if (!state_mutex_.try_lock()) return false;
  const os::LockGuard lock(state_mutex_, std::adopt_lock);
  return cycle_.dispatch_queued();
}

Pushed ManagerAgent::enqueue(JobPtr& job) noexcept {
  JobPtr displaced;
  const Pushed pushed = queue_.push(job, hints_.of(job->task), &displaced);
  if (pushed == Pushed::full || displaced) counters_.note_queue_full();
  if (displaced) displaced->fail(errors::queue_full);
  return pushed;
}

void ManagerAgent::admit(AdmissionRequest request, std::unique_ptr<AdmissionHandler> handler) {
  auto asked = std::make_unique<AdmissionCandidate>();
  asked->contract = request.contract;
  asked->owner = request.owner;
  asked->label = std::move(request.label);
  asked->holder = std::move(request.holder);
  asked->handler = std::move(handler);
  asked->asked = clock_.now();
  const Time now = asked->asked;
  if (!admissions_.push(std::move(asked))) counters_.note_queue_full();
  wake_for_candidate(now);
}

void ManagerAgent::depart(TaskId task, PeerId owner) noexcept {
  if (departures_.ask(task, owner)) parker_.unpark();
}

bool ManagerAgent::end(TaskId task) noexcept {
  if (!departures_.ask(task, {}, true)) return false;
  parker_.unpark();
  return true;
}

// If so many peers go at once that this one cannot be noted, its tasks leave one by one.
void ManagerAgent::peer_gone(PeerId peer) noexcept {
  if (peer == PeerId{}) return;  // this process itself
  if (!peers_.note_lost(peer)) departures_.ask_all(peer);
  parker_.unpark();
}

void ManagerAgent::attach(TaskId task, PeerId owner, std::shared_ptr<JobSource> source) noexcept {
  if (peers_.attach(task, owner, std::move(source))) parker_.unpark();
}

// Wakes a thread for a new task. Both threads serve new tasks. The one below the tasks is woken if the manager's would
// only wake up to find its time used. Otherwise the manager's thread looks again when its time is back.
// No analysis: has_analysis_time() is any thread's.
void ManagerAgent::wake_for_candidate(Time now) noexcept CORELANE_NO_THREAD_SAFETY_ANALYSIS {
  (cycle_.has_analysis_time(now) ? parker_ : below_.parker()).unpark();
}

bool ManagerAgent::step(Time now) noexcept {
  const os::LockGuard lock(state_mutex_);
  const bool has_more = cycle_.step(now);
  if (cycle_.leaves_rest()) below_.parker().unpark();
  return has_more;
}

bool ManagerAgent::step_below(Time now) noexcept {
  const os::LockGuard lock(state_mutex_);
  const bool busy = cycle_.step_below(now);
  if (driver_.core_changes().binds_below_again()) below_.bind_again();
  below_.note(cycle_.below_wakes_at(), driver_.promises().home());
  if (cycle_.manager_wakes_earlier()) parker_.unpark();
  return busy;
}

// The thread is bound to the manager's core, whose platform load includes the slices that run boosted. It runs under
// SCHED_OTHER: if a SCHED_FIFO thread always has something to do, the kernel stops all SCHED_FIFO threads for a part of
// each second.
bool ManagerAgent::Below::step(Time now) noexcept {
  const bool busy = manager_.step_below(now);
  if (manager_.options_.real_time && core_ != home_ && os::bind_this_thread(home_)) core_ = home_;
  return busy;
}

ExecutiveReport ManagerAgent::report() const {
  ExecutiveReport report;
  report.promises = options_.admission_test->promises;
  report.cores.reserve(leases_.size());
  TaskReports tasks(options_.max_tasks);
  {
    const os::LockGuard lock(state_mutex_);
    driver_.add_to(report, tasks);
  }
  report.jobs_refused += counters_.refused_outside();
  report.refusals = refusals_.latest();
  report.queue_full = counters_.queue_full();
  report.best_effort_jobs = best_effort_.jobs();
  report.best_effort_threads = best_effort_.threads();
  report.best_effort_shortages = best_effort_.shortages();
  report.best_effort_concurrency = best_effort_.servant_limit();
  report.spare_threads = housekeeper_.spare_threads();
  report.best_effort_servers = best_effort_.servers().report();
  tasks.finish(report);
  return report;
}

void ManagerAgent::shut_down(Time now) noexcept {
  queue_.close();
  admissions_.close();
  peers_.close();
  {
    const os::LockGuard lock(state_mutex_);
    while (JobPtr job = queue_.pop()) job->fail(errors::shutting_down);  // bound: the queue's capacity
    driver_.let_all_go(now);
  }
  housekeeper_.close();
  const os::LockGuard lock(state_mutex_);
  driver_.forget_all();
}

}  // namespace corelane::dispatch
