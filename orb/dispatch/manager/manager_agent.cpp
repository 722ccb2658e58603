// The work cycle of ManagerAgent, its entry functions and its queues. manager_admission.cpp handles new tasks,
// manager_commands.cpp carries out what the Manager commands, and manager_report.cpp makes reports.
#include "orb/dispatch/manager/manager_agent.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "orb/base/errors.h"
#include "orb/dispatch/job_source.h"
#include "orb/dispatch/manager_options.h"
#include "orb/os/privileges.h"

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
      natives_(task_natives(options)),
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
      manager_(manager_options(options, leases), recorder_.manager()),
      promises_(options_, leases_, provider, best_effort.servers(), manager_),
      admission_control_(manager_, promises_, admissions_, spin_of(options), refusals_),
      analysis_budget_(options.platform),
      leases_of_tasks_(options.task_lease, options.max_tasks),
      records_(options.max_tasks) {
  for (const CoreLease& lease : leases_) {
    pools_.push_back(std::make_unique<CorePool>(lease.core, options.max_tasks, inbox_, recorder_.scheduler(lease.core),
                                                options_.overshoot));
    const sched::CoreOrder order = order_of(options, lease.core);
    if (options.charge_overruns) pools_.back()->charge_overruns();
    if (order == sched::CoreOrder::deadline) pools_.back()->use_deadlines(natives_);
    if (order == sched::CoreOrder::served) pools_.back()->use_servers();
  }
  notes_.reserve(inbox_.room());
  lost_.reserve(leases_.size());
  returned_.reserve(leases_.size());
  core_watch_.keep_lost(options.served_cores);
  core_watch_.on_return([this] {
    housekeeper_.rebind_threads();
    best_effort_.rebind();
  });
  if (options.max_tasks > 0) housekeeper_.keep(core_watch_, CoreWatch::period);  // without tasks a core is not missed
  housekeeper_.keep(recorder_, recorder_.period());
  housekeeper_.keep(counters_, CounterPageWriter::period);
}

ManagerAgent::~ManagerAgent() = default;

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
  const std::unique_lock lock(state_mutex_, std::try_to_lock);
  if (!lock || !queue_.is_idle()) return false;
  arrive(std::move(job), clock_.now());
  counters_.note(admitted_, admission_control_.refusals(), jobs_refused_);
  return true;
}

// Dispatches what is queued. False: the manager's thread has to look. If the lock is taken, the job stays in the queue,
// because the holder of the lock may have looked there already.
bool ManagerAgent::take_turn() noexcept {
  const std::unique_lock lock(state_mutex_, std::try_to_lock);
  if (!lock) return false;
  const bool all = dispatch_jobs(clock_.now()) < batch;
  counters_.note(admitted_, admission_control_.refusals(), jobs_refused_);
  return all;
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

bool ManagerAgent::step(Time now) noexcept {
  const std::lock_guard lock(state_mutex_);
  const bool serves_candidates = analysis_budget_.is_left(now);
  bool busy = read_notes(now);   // anything was done but jobs
  busy |= take_cores_back(now);  // first: the tasks of a lost core may go there
  busy |= leave_lost_core(now);
  busy |= take_attachment();
  const int dispatched = dispatch_jobs(now);
  // A departure that was requested before an admission is done before it.
  busy |= take_lost_peer(now) || take_departure(now) || (serves_candidates && take_admission(now));
  if (serves_candidates && may_analyse(dispatched)) busy |= begin_candidate(now);
  busy |= promises_.refresh(now);
  busy |= serves_candidates && admission_control_.tell_late(now);
  settled_ = !busy && (settled_ || dispatched == 0);
  counters_.note(admitted_, admission_control_.refusals(), jobs_refused_);
  const Time ended = clock_.now();
  // A step that finds nothing is not charged. Otherwise, if it took as long as the budget, each step would cause the
  // next one.
  if (serves_candidates && (busy || dispatched > 0)) analysis_budget_.charge(now, ended);
  leave_rest_below(ended);
  return !settled_ || dispatched == batch;
}

bool ManagerAgent::read_notes(Time now) noexcept {
  notes_.clear();
  inbox_.drain(notes_);
  for (const Note& note : notes_) std::visit([&](const auto& n) { handle_note(n, now); }, note);
  return !notes_.empty();
}

int ManagerAgent::dispatch_jobs(Time now) noexcept {
  int taken = 0;
  for (; taken < batch; ++taken) {
    JobPtr job = queue_.pop();
    if (!job) break;
    arrive(std::move(job), now);
  }
  return taken;
}

// After a full batch, more requests may wait, and they go first. But requests that keep coming do not shut new tasks
// out.
bool ManagerAgent::may_analyse(int dispatched) noexcept {
  if (dispatched == batch && ++skipped_ < most_skipped) return false;
  skipped_ = 0;
  return true;
}

void ManagerAgent::arrive(JobPtr job, Time now) noexcept {
  job->id_ = next_job_id();
  job->arrived = arrival_of(job->arrived, now, clock_);  // what the contract counts from
  const sched::Arrived fact{.at = job->arrived, .job = job->id_, .task = job->task, .peer = job->owner};
  current_ = std::move(job);
  tell(fact, now);
  if (current_) {  // neither placed nor refused: the task is not ready for jobs
    ++jobs_refused_;
    std::exchange(current_, nullptr)->refuse({.code = sched::RefusalCode::reorganizing});
  }
}

bool ManagerAgent::take_lost_peer(Time now) noexcept {
  const std::optional<PeerId> lost = peers_.next_lost();
  if (!lost) return false;
  admission_control_.drop(*lost);
  admissions_.drop(*lost);
  tell(sched::PeerLost{.at = now, .peer = *lost}, now);
  return true;
}

bool ManagerAgent::take_departure(Time now) noexcept {
  bool by_operator = false;
  const TaskId task = departures_.next(&by_operator);
  if (task == no_task) return false;
  if (by_operator) return end_task(task, sched::RefusalCode::ended, now), true;
  tell(sched::Departed{.at = now, .task = task}, now);
  return true;
}

// Gives a connection to its task. No client knows of a task that still waits for its thread.
bool ManagerAgent::take_attachment() noexcept {
  const auto attachment = peers_.next_attachment();
  if (!attachment) return false;
  Record* record = find(attachment->task);
  const bool theirs = record && !record->leaving && record->report.owner == attachment->owner;
  if (!theirs || !record->worker->give(attachment->source)) attachment->source->close();
  return true;
}

void ManagerAgent::shut_down(Time now) noexcept {
  queue_.close();
  admissions_.close();
  peers_.close();
  {
    const std::lock_guard lock(state_mutex_);
    while (JobPtr job = queue_.pop()) job->fail(errors::shutting_down);  // bound: the queue's capacity
    admission_control_.fail_all(errors::shutting_down);
    records_.for_each([&](Record& record) {
      if (record.handler) std::exchange(record.handler, nullptr)->failed(errors::shutting_down);
      let_go(record, std::nullopt, now);
    });
  }
  housekeeper_.close();
  const std::lock_guard lock(state_mutex_);
  records_.for_each([this](Record& record) { forget(record); });
  records_.clear();
  promises_.withdraw();
}

}  // namespace corelane::dispatch
