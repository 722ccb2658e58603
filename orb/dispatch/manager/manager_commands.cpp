// ManagerAgent carries out the Manager's commands here: threads, pools, answers.
#include <algorithm>
#include <cassert>
#include <mutex>
#include <new>
#include <utility>

#include "orb/base/errors.h"
#include "orb/dispatch/manager/manager_agent.h"
#include "orb/os/thread.h"
#include "orb/sched/servers/task_server.h"

namespace corelane::dispatch {
// Tells the Manager a fact. A fact that arises while commands are carried out waits until they are done. The commands
// are valid only until the Manager is asked again, and this saves copying them. At most one fact waits: an answer
// admits one new task at most. If that fails here, its task departs. The answer to that contains a Dismiss, which finds
// nothing on the core, so the core is vacated. Nothing else raises a fact.
void ManagerAgent::tell(const sched::Fact& fact, Time now) noexcept {
  if (!carrying_out_) return carry_out_all(manager_.decide(fact), now);
  assert(!follow_up_);
  follow_up_ = fact;
}

// Bound: if an admission fails, the core that it vacates may let another new task be admitted. The Manager knows two
// new tasks, and each fails once.
void ManagerAgent::carry_out_all(std::span<const sched::Command> commands, Time now) noexcept {
  for (carry_out(commands, now); follow_up_;) {
    const sched::Fact fact = *std::exchange(follow_up_, std::nullopt);
    carry_out(manager_.decide(fact), now);
  }
}

void ManagerAgent::carry_out(std::span<const sched::Command> commands, Time now) noexcept {
  carrying_out_ = true;
  for (const sched::Command& command : commands) std::visit([&](const auto& c) { handle(c, now); }, command);
  carrying_out_ = false;
}

void ManagerAgent::handle(const sched::Admit& admit, Time now) noexcept {
  const AdmissionCandidatePtr candidate = admission_control_.take(admit.request);
  CorePool* pool = pool_of(admit.core);
  Record* const record = candidate && pool ? take_room(admit, *candidate, *pool) : nullptr;
  if (!record) {  // it failed meanwhile, or fails here
    if (candidate) candidate->fail(errors::no_memory);
    return tell(sched::Departed{.at = now, .task = admit.task}, now);
  }
  ++admitted_;
  record->handler = std::move(candidate->handler);
  if (candidate->job) {
    candidate->job->task = admit.task;
    candidate->job->arrived = now;  // its contract begins now
    record->first_jobs.push_back(std::move(candidate->job));
  }
  manager_.name(admit.task, *record->label);
  if (admit.waits_for_idle)
    pool->join(record->worker, admit.priority, now);
  else
    pool->add(record->worker, admit.priority);
  hints_.set(admit.task, admit.priority);
  departures_.know(admit.task, admit.peer);
  leases_of_tasks_.add(admit.task, admit.peer, admit.contract.period, now);
  if (leases_of_tasks_.look_at() != never) below_.parker().unpark();  // so that it learns when it has to look
  raise_bounds();
  start_thread(*record, now);
}

// Allocates all that the task needs in its life. Null: there is not enough memory, and nothing has happened.
ManagerAgent::Record* ManagerAgent::take_room(const sched::Admit& admit, const AdmissionCandidate& candidate,
                                              CorePool& pool) noexcept try {
  auto made = std::make_unique<Record>();
  made->report = {.task = admit.task,
                  .label = {},
                  .owner = admit.peer,
                  .contract = admit.contract,
                  .core = admit.core,
                  .priority = admit.priority,
                  .bound = admit.response};
  made->label = std::make_shared<const std::string>(candidate.label);
  made->worker =
      std::make_shared<TaskWorker>(admit.task, admit.contract, pool, clock_, candidate.ceilings, options_.wait);
  made->worker->tell_events_to(events_);
  made->worker->placement(placement_on(pool, admit.priority, admit.contract));
  made->orders = Housekeeper::orders_for("cl-task-" + std::to_string(admit.task.value), made->worker);
  made->last = std::make_shared<TaskReport>();
  made->last->label = candidate.label;
  made->last->latest_misses.reserve(MissLog::capacity);
  made->row = counters_.add(made->worker, admit, candidate.label, candidate.holder);
  return &records_.put(std::move(made));
} catch (const std::bad_alloc&) {
  return nullptr;
}

// Returns where the task's thread runs. On a core by deadlines, the pool raises the level with each job. On a core
// under the kernel's own policy, the thread gets a share of it.
ThreadPlacement ManagerAgent::placement_on(const CorePool& pool, Priority priority,
                                           const Contract& contract) const noexcept {
  if (pool.order() == sched::CoreOrder::priority)
    return {.core = pool.core(), .native = sched::native_of(priority, natives_)};
  ThreadPlacement placement{.core = pool.core(), .native = natives_.lowest};
  if (pool.order() == sched::CoreOrder::deadline) return placement;
  const sched::Reservation server = sched::task_server_of(contract);
  placement.share = {.runtime = server.budget, .period = server.period};
  return placement;
}

// A spare thread gets its job before it is woken, so that it wakes once.
void ManagerAgent::start_thread(Record& record, Time now) noexcept {
  const TaskId task = record.report.task;
  auto thread = housekeeper_.take(*record.orders.begin);
  if (!thread) return housekeeper_.start(std::move(record.orders.begin));
  record.worker->attach(thread.get());
  handle_note(ThreadStarted{.task = task, .real_time = thread->real_time()}, now);
  thread->begin();
  housekeeper_.adopt(std::move(record.orders.begin), std::move(thread));
}

// Raises the tasks' response bounds. A new task makes other tasks slower: those of its core and, if it made tasks move
// first, those of their cores. A report compares the worst response of a task's life with the largest bound that held
// during it, so a bound only grows. Bound: the tasks of the process.
void ManagerAgent::raise_bounds() noexcept {
  records_.for_each([this](Record& record) {
    const auto view = manager_.find(record.task());
    if (!view || view->response <= record.report.bound) return;
    record.report.bound = view->response;
    CounterPublisher::raise_bound(record.row, view->response);
  });
}

void ManagerAgent::handle(const sched::Dispatch& command, Time) noexcept {
  JobPtr job = take_job(command.job);
  if (!job) return;  // the first job of a new task went with its Admit
  if (command.core == no_core) {
    if (best_effort_.submit(job) != Pushed::done) job->fail(errors::queue_full);
    return;
  }
  Record* record = find(command.task);
  if (!record) return job->fail(errors::task_gone);
  if (!record->started) return record->first_jobs.push_back(std::move(job));
  const Time at = job->arrived;
  hand_over(*record, std::move(job), command.job, at);
}

void ManagerAgent::hand_over(Record& record, JobPtr job, JobId id, Time at) noexcept {
  CorePool* pool = pool_of(record.report.core);
  auto refused = pool->arrive(*record.worker, std::move(job), id, at);
  if (!refused.job) return;
  record.worker->note_refused(refused.reason.code);
  refused.job->refuse(refused.reason);
}

void ManagerAgent::handle(const sched::Reprioritize& change, Time) noexcept {
  Record* record = find(change.task);
  if (!record) return;
  if (CorePool* pool = pool_of(change.core)) pool->reprioritize(change.task, change.priority);  // task may be absent
  if (record->report.core != change.core) return;
  record->report.priority = change.priority;
  if (const CorePool* pool = pool_of(change.core); pool && pool->order() == sched::CoreOrder::priority)
    record->worker->placement(placement_on(*pool, change.priority, record->report.contract));
  hints_.set(change.task, change.priority);
}

// A job that has locked the resource runs at the new ceiling from here on. Bound: the tasks of the process.
void ManagerAgent::handle(const sched::Ceiling& ceiling, Time) noexcept {
  const bool used = ceiling.priority != best_effort;
  ceilings_.set(ceiling.resource, ceiling.core, used ? sched::native_of(ceiling.priority, natives_) : 0);
  records_.for_each([&](const Record& record) {
    if (record.report.core == ceiling.core && uses_resources(record.report.contract)) record.worker->refresh_ceilings();
  });
}

void ManagerAgent::handle(const sched::Vacate& vacate, Time now) noexcept {
  if (CorePool* pool = pool_of(vacate.core)) pool->vacate(vacate.task, now);
}

// Moves a task. On a lost core it was not vacated, so the job that it may be running moves with it.
void ManagerAgent::handle(const sched::Move& move, Time now) noexcept {
  Record* record = find(move.task);
  CorePool* const to = pool_of(move.to);
  if (!record || !to) return;
  const CoreId from = std::exchange(record->report.core, move.to);
  record->report.priority = move.priority;
  const ThreadPlacement placement = placement_on(*to, move.priority, record->report.contract);
  record->worker->placement(placement);
  pool_of(from)->move(record->worker, *to, move.priority, now);
  // The old pool may have changed the placement meanwhile. On a core by deadlines the new pool has changed it, too.
  // Then this function does not change it again.
  if (to->order() != sched::CoreOrder::deadline) record->worker->placement(placement);
  hints_.set(move.task, move.priority);
  if (from != move.to) promises_.extend(from, record->report.contract, now);
}

void ManagerAgent::handle(const sched::Dismiss& dismiss, Time now) noexcept {
  if (Record* record = find(dismiss.task)) return let_go(*record, record->why, now);
  // The task departed before it had a thread, so nothing of it is on the core.
  tell(sched::Vacated{.at = now, .task = dismiss.task, .core = dismiss.core}, now);
  promises_.has_changed();
}

// Ends a task after CoreLost; it has left the Manager already. Its client learns the reason from the answers to its
// jobs: those that wait, and those that it sends later.
void ManagerAgent::handle(const sched::Evict& evict, Time now) noexcept {
  history_.note_end(evict.task, sched::RefusalCode::core_lost);
  if (Record* record = find(evict.task)) let_go(*record, evict.reason, now);
}

void ManagerAgent::handle(const sched::Refuse& refuse, Time now) noexcept {
  if (JobPtr job = take_job(refuse.job)) {
    ++jobs_refused_;
    const sched::Refusal reason = history_.reason_for(job->task, refuse.reason);
    return job->refuse(reason);
  }
  sched::Refuse told = refuse;
  complete(told.reason);
  (void)admission_control_.refused(told, now);
}

// Ends the task like a departure. But its client did not ask for that, and is told the reason.
void ManagerAgent::end_task(TaskId task, sched::RefusalCode why, Time now) noexcept {
  if (Record* record = find(task)) record->why = sched::Refusal{.code = why};
  history_.note_end(task, why);
  tell(sched::Departed{.at = now, .task = task}, now);
}

bool ManagerAgent::end_unused_tasks(Time now) noexcept {
  return leases_of_tasks_.look(
      now, [this](TaskId task) { return use_of(task); },
      [&](TaskId task) { end_task(task, sched::RefusalCode::unused, now); });
}

// Returns how many jobs ended or were turned away; nothing while a job is under way.
std::optional<std::uint64_t> ManagerAgent::use_of(TaskId task) noexcept {
  const Record* const record = find(task);
  if (!record) return 0;
  if (!record->first_jobs.empty() || CorePool::has_jobs(*record->worker)) return std::nullopt;
  const TaskStatistics& statistics = record->worker->statistics();
  return statistics.response.count() + statistics.refused.load(std::memory_order_relaxed);  // relaxed: counts
}

// Fills in what the Manager cannot know: other processes' promises on this core, and the label and jitter of the task
// that would lose.
void ManagerAgent::complete(sched::Refusal& refusal) noexcept {
  for (std::size_t i = 0; i < leases_.size(); ++i) {
    const auto view = manager_.find(leases_[i].core);
    if (leases_[i].core != refusal.closest || !view) continue;
    refusal.tasks = view->admitted;
    refusal.others = promises_.others_on(i);
    refusal.others_platform = promises_.others_platform_on(i);
    refusal.platform = std::max<sched::Ppm>(0, view->platform - refusal.others);
  }
  if (const Record* loser = find(refusal.loser)) {
    constexpr std::size_t room = std::tuple_size_v<decltype(refusal.loser_name)> - 1;
    const std::size_t size = loser->label->size();
    loser->label->copy(refusal.loser_name.data(), room, size - std::min(size, room));
    refusal.jitter = loser->report.contract.jitter;
  }
}

// Ends the task's jobs and takes it from the core. `why`: for a task that ends without a request from its client.
void ManagerAgent::let_go(Record& record, const std::optional<sched::Refusal>& why, Time now) noexcept {
  record.leaving = true;
  leases_of_tasks_.remove(record.report.task);
  hints_.erase(record.report.task);
  departures_.forget(record.report.task);
  if (auto handler = std::exchange(record.handler, nullptr))
    why ? handler->refused(*why) : handler->failed(errors::task_gone);
  record.report.early = pool_of(record.report.core)->early_jobs(record.report.task);
  JobList cancelled = pool_of(record.report.core)->dismiss(*record.worker, now);
  const auto answer = [&](JobPtr job) { why ? job->refuse(*why) : job->fail(errors::task_gone); };
  // Bound: jobs of one task.
  while (JobPtr job = cancelled.pop_front()) answer(std::move(job));
  while (JobPtr job = record.first_jobs.pop_front()) answer(std::move(job));
}

// Handles the note that a task left a core. If the task was moved from a lost core after the note was written, its
// record stays, and the Manager handles the note.
void ManagerAgent::handle_note(const sched::Vacated& note, Time now) noexcept {
  Record* record = find(note.task);
  if (record && record->leaving && record->report.core == note.core) {
    promises_.extend(note.core, record->report.contract, now);
    const std::unique_ptr<Record> left = records_.take(note.task);
    forget(*left);
    housekeeper_.retire(std::move(left->orders.end));
  }
  tell(sched::Vacated{.at = now, .task = note.task, .core = note.core}, now);
  promises_.has_changed();
}

void ManagerAgent::handle_note(const sched::CoreLost& note, Time now) noexcept {
  if (std::erase(returned_, note.core) > 0) return;  // it was not used again before
  if (lost_.empty()) leaving_.start(now);
  lost_.push_back({.at = now, .core = note.core});
}

void ManagerAgent::handle_note(const sched::CoreReturned& note, Time now) noexcept {
  if (std::erase_if(lost_, [&](const sched::CoreLost& lost) { return lost.core == note.core; }) > 0) return;
  if (returned_.empty()) returning_.start(now);
  returned_.push_back(note.core);
}

// Uses returned cores again. If something of a task that had to end still runs on a core, it is tried again later.
// Bound: the cores.
bool ManagerAgent::take_cores_back(Time now) noexcept {
  if (returned_.empty() || !returning_.is_due(now)) return false;
  const std::size_t taken = std::erase_if(returned_, [&](CoreId core) { return take_back(core, now); });
  if (!returned_.empty()) returning_.failed(now);
  if (taken == 0) return false;
  settle_home();
  promises_.has_changed();
  return true;
}

bool ManagerAgent::take_back(CoreId core, Time now) noexcept {
  if (!pool_of(core)->reopen()) return false;
  carry_out_all(manager_.decide(sched::CoreReturned{.at = now, .core = core}), now);
  return true;
}

// Puts the manager's two threads on a core that is there, and binds them to it: the kernel may have unbound them.
void ManagerAgent::settle_home() noexcept {
  below_binds_again_ = true;
  const auto view = manager_.find(promises_.home());
  if (!view || view->lost) return move_home();
  if (options_.real_time) (void)os::bind_this_thread(promises_.home());
}

// Moves the tasks of a lost core. They are placed like new tasks: the decision considers what other processes promise,
// these processes see our claim, and the result is recorded in the ledger. If the new placement cannot be recorded in
// the ledger in time, the tasks end. Otherwise they would run on capacity that another process may promise.
bool ManagerAgent::leave_lost_core(Time now) noexcept {
  if (lost_.empty() || !leaving_.is_due(now)) return false;
  const sched::CoreLost lost = lost_.front();
  auto claimed = promises_.begin_leaving(lost.core, now);
  if (claimed) claimed = promises_.claim_all();
  if (!claimed && now - lost.at < AdmissionControl::patience) return leaving_.failed(now), false;
  if (!claimed) promises_.close_all();
  lost_.erase(lost_.begin());
  leaving_.start(now);
  const auto commands = manager_.decide(sched::CoreLost{.at = now, .core = lost.core});
  if (lost.core == promises_.home()) move_home();
  if (claimed) (void)promises_.commit();  // the claim stands until this is written
  promises_.has_changed();
  carry_out_all(commands, now);
  raise_bounds();  // the moved tasks delay others
  pool_of(lost.core)->strand();
  return true;
}

// Moves this thread to another core that is left. Its platform load counts there from now on.
void ManagerAgent::move_home() noexcept {
  for (const CoreLease& lease : leases_) {
    const auto view = manager_.find(lease.core);
    if (!view || view->lost) continue;
    if (options_.real_time && !os::bind_this_thread(lease.core)) continue;
    promises_.move_home(lease.core);
    return;
  }
}

void ManagerAgent::handle_note(const ThreadStarted& note, Time now) noexcept {
  Record* record = find(note.task);
  if (!record || record->leaving) return;
  record->started = true;
  record->report.real_time = note.real_time;
  if (record->handler) {
    const TaskReport& r = record->report;
    std::exchange(record->handler, nullptr)
        ->admitted({.task = r.task, .core = r.core, .priority = r.priority, .bound = r.bound});
  }
  while (JobPtr job = record->first_jobs.pop_front()) {  // bound: the jobs that came meanwhile
    const JobId id = job->id_;
    hand_over(*record, std::move(job), id, now);
  }
}

void ManagerAgent::handle_note(const ThreadFailed& note, Time now) noexcept {
  Record* record = find(note.task);
  if (!record) return;
  if (record->handler) std::exchange(record->handler, nullptr)->failed(note.error);
  while (JobPtr job = record->first_jobs.pop_front()) job->fail(note.error);  // bound: as above
  tell(sched::Departed{.at = now, .task = note.task}, now);
}

JobPtr ManagerAgent::take_job(JobId id) noexcept {
  return current_ && current_->id_ == id ? std::exchange(current_, nullptr) : nullptr;
}

ManagerAgent::Record* ManagerAgent::find(TaskId task) noexcept { return records_.find(task); }

CorePool* ManagerAgent::pool_of(CoreId core) noexcept {
  for (const auto& pool : pools_)
    if (pool->core() == core) return pool.get();
  return nullptr;
}

}  // namespace corelane::dispatch
