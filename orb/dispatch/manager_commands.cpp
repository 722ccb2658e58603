// What the Manager commands, carried out: threads, pools, answers.
#include <algorithm>
#include <cassert>
#include <mutex>
#include <new>
#include <utility>

#include "orb/base/errors.h"
#include "orb/dispatch/manager_agent.h"
#include "orb/os/thread.h"
#include "orb/sched/task_server.h"

namespace corelane::dispatch {
// What is told while commands are carried out waits until they are, so that nothing has to be copied: the commands are
// the Manager's until it is asked again. One fact waits at most. An answer admits one newcomer at most; if that fails
// here, its task departs, and that answer's Dismiss finds nothing on the core, so it is vacated. Nothing else is told.
void ManagerAgent::tell(const sched::Fact& fact, Time now) noexcept {
  if (!carrying_out_) return carry_out_all(manager_.decide(fact), now);
  assert(!follow_up_);
  follow_up_ = fact;
}

// Bound: who is admitted late, by the vacated core of one who failed, is one of the two newcomers that the Manager
// knows; each fails once.
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
  const NewcomerPtr newcomer = newcomers_.take(admit.request);
  CorePool* pool = pool_of(admit.core);
  Record* const record = newcomer && pool ? take_room(admit, *newcomer, *pool) : nullptr;
  if (!record) {  // it failed meanwhile, or fails here
    if (newcomer) newcomer->fail(errors::no_memory);
    return tell(sched::Departed{.at = now, .task = admit.task}, now);
  }
  ++admitted_;
  record->handler = std::move(newcomer->handler);
  if (newcomer->job) {
    newcomer->job->task = admit.task;
    newcomer->job->arrived = now;  // its contract begins now
    record->first_jobs.push_back(std::move(newcomer->job));
  }
  manager_.name(admit.task, *record->label);
  if (admit.waits_for_idle)
    pool->join(record->worker, admit.priority, now);
  else
    pool->add(record->worker, admit.priority);
  hints_.set(admit.task, admit.priority);
  departures_.know(admit.task, admit.peer);
  leases_of_tasks_.add(admit.task, admit.peer, admit.contract.period, now);
  if (leases_of_tasks_.look_at() != never) below_.parker().unpark();  // to learn when it has to look
  raise_bounds();
  start_thread(*record, now);
}

// All that the task's life will take. Null: there is not enough memory, and nothing has happened.
ManagerAgent::Record* ManagerAgent::take_room(const sched::Admit& admit, const Newcomer& newcomer,
                                              CorePool& pool) noexcept try {
  auto made = std::make_unique<Record>();
  made->report = {.task = admit.task,
                  .label = {},
                  .owner = admit.peer,
                  .contract = admit.contract,
                  .core = admit.core,
                  .priority = admit.priority,
                  .bound = admit.response};
  made->label = std::make_shared<const std::string>(newcomer.label);
  made->worker =
      std::make_shared<TaskWorker>(admit.task, admit.contract, pool, clock_, newcomer.ceilings, options_.wait);
  made->worker->tell_events_to(events_);
  made->worker->seat(seat_on(pool, admit.priority, admit.contract));
  made->orders = Housekeeper::orders_for("cl-task-" + std::to_string(admit.task.value), made->worker);
  made->last = std::make_shared<TaskReport>();
  made->last->label = newcomer.label;
  made->last->latest_misses.reserve(MissLog::capacity);
  Record& record = *(records_[admit.task] = std::move(made));
  counters_.add(record.worker, admit, newcomer.label, newcomer.holder);
  return &record;
} catch (const std::bad_alloc&) {
  records_.erase(admit.task);
  return nullptr;
}

// By deadlines the pool raises it with each job, or the thread has its share of the kernel's own policy.
Seat ManagerAgent::seat_on(const CorePool& pool, Priority priority, const Contract& contract) const noexcept {
  if (pool.order() == sched::CoreOrder::priority)
    return {.core = pool.core(), .native = sched::native_of(priority, natives_)};
  Seat seat{.core = pool.core(), .native = natives_.lowest};
  if (pool.order() == sched::CoreOrder::deadline) return seat;
  const sched::Reservation server = sched::task_server_of(contract);
  seat.share = {.runtime = server.budget, .period = server.period};
  return seat;
}

// One that sleeps gets its job before it is woken, so that it wakes once.
void ManagerAgent::start_thread(Record& record, Time now) noexcept {
  const TaskId task = record.report.task;
  auto thread = housekeeper_.take(*record.orders.begin);
  if (!thread) return housekeeper_.start(std::move(record.orders.begin));
  record.worker->attach(thread.get());
  handle_note(ThreadStarted{.task = task, .real_time = thread->real_time()}, now);
  thread->begin();
  housekeeper_.adopt(std::move(record.orders.begin), std::move(thread));
}

// A newcomer makes others slower: those of its core, and where it made tasks move first those of their cores. A report
// compares the worst response of a task's life with the largest bound that held during it, so a bound only grows.
// Bound: the tasks of the process.
void ManagerAgent::raise_bounds() noexcept {
  for (const auto& [id, record] : records_) {
    const auto view = manager_.find(id);
    if (!view || view->response <= record->report.bound) continue;
    record->report.bound = view->response;
    counters_.raise_bound(id, view->response);
  }
}

void ManagerAgent::handle(const sched::Place& place, Time) noexcept {
  JobPtr job = take_job(place.job);
  if (!job) return;  // the first job of a new task went with its Admit
  if (place.core == no_core) {
    if (best_effort_.submit(job) != Pushed::done) job->fail(errors::queue_full);
    return;
  }
  Record* record = find(place.task);
  if (!record) return job->fail(errors::task_gone);
  if (!record->started) return record->first_jobs.push_back(std::move(job));
  const Time at = job->arrived;
  hand_over(*record, std::move(job), place.job, at);
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
  if (CorePool* pool = pool_of(change.core)) pool->reprioritize(change.task, change.priority);  // if it is there
  if (record->report.core != change.core) return;
  record->report.priority = change.priority;
  if (const CorePool* pool = pool_of(change.core); pool && pool->order() == sched::CoreOrder::priority)
    record->worker->seat(seat_on(*pool, change.priority, record->report.contract));
  hints_.set(change.task, change.priority);
}

// Who has locked it runs at the new ceiling from here on. Bound: the tasks of the process.
void ManagerAgent::handle(const sched::Ceiling& ceiling, Time) noexcept {
  const bool used = ceiling.priority != best_effort;
  ceilings_.set(ceiling.resource, ceiling.core, used ? sched::native_of(ceiling.priority, natives_) : 0);
  for (const auto& [id, record] : records_)
    if (record->report.core == ceiling.core && uses_resources(record->report.contract))
      record->worker->refresh_ceilings();
}

void ManagerAgent::handle(const sched::Vacate& vacate, Time now) noexcept {
  if (CorePool* pool = pool_of(vacate.core)) pool->vacate(vacate.task, now);
}

// From a lost core nobody has vacated the task: the job that it may be running goes along.
void ManagerAgent::handle(const sched::Move& move, Time now) noexcept {
  Record* record = find(move.task);
  CorePool* const to = pool_of(move.to);
  if (!record || !to) return;
  const CoreId from = std::exchange(record->report.core, move.to);
  record->report.priority = move.priority;
  const Seat seat = seat_on(*to, move.priority, record->report.contract);
  record->worker->seat(seat);
  pool_of(from)->move(record->worker, *to, move.priority, now);
  // The old pool may have changed it meanwhile. By deadlines the new one has, too, and that stands.
  if (to->order() != sched::CoreOrder::deadline) record->worker->seat(seat);
  hints_.set(move.task, move.priority);
  if (from != move.to) promises_.linger(from, record->report.contract, now);
}

void ManagerAgent::handle(const sched::Dismiss& dismiss, Time now) noexcept {
  if (Record* record = find(dismiss.task)) return let_go(*record, record->why, now);
  // Departed before it had a thread: nothing of it is on the core.
  tell(sched::Vacated{.at = now, .task = dismiss.task, .core = dismiss.core}, now);
  promises_.has_changed();
}

// After CoreLost; the task has left for the Manager. Its client learns the reason from the answer to its jobs: those
// that wait, and those that it sends later.
void ManagerAgent::handle(const sched::Evict& evict, Time now) noexcept {
  ended_.add({evict.task, sched::RefusalCode::core_lost});
  if (Record* record = find(evict.task)) let_go(*record, evict.reason, now);
}

void ManagerAgent::handle(const sched::Refuse& refuse, Time now) noexcept {
  if (JobPtr job = take_job(refuse.job)) {
    ++jobs_refused_;
    const sched::Refusal reason = reason_for(job->task, refuse.reason);
    return job->refuse(reason);
  }
  sched::Refuse told = refuse;
  complete(told.reason);
  (void)newcomers_.refused(told, now);
}

sched::Refusal ManagerAgent::reason_for(TaskId task, const sched::Refusal& otherwise) const noexcept {
  sched::Refusal reason = otherwise;
  ended_.for_each([&](const Ended& ended) {
    if (ended.task == task) reason = {.code = ended.why};
  });
  return reason;
}

// As one that departs; but its client did not ask for it, and is told.
void ManagerAgent::end_task(TaskId task, sched::RefusalCode why, Time now) noexcept {
  if (Record* record = find(task)) record->why = sched::Refusal{.code = why};
  ended_.add({task, why});
  tell(sched::Departed{.at = now, .task = task}, now);
}

bool ManagerAgent::end_unused_tasks(Time now) noexcept {
  return leases_of_tasks_.look(
      now, [this](TaskId task) { return use_of(task); },
      [&](TaskId task) { end_task(task, sched::RefusalCode::unused, now); });
}

// Jobs that ended or were turned away; nothing while one is under way.
std::optional<std::uint64_t> ManagerAgent::use_of(TaskId task) noexcept {
  const Record* const record = find(task);
  if (!record) return 0;
  if (!record->first_jobs.empty() || CorePool::has_jobs(*record->worker)) return std::nullopt;
  const TaskStatistics& statistics = record->worker->statistics();
  return statistics.response.count() + statistics.refused.load(std::memory_order_relaxed);  // relaxed: counts
}

// By what the Manager does not know.
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

// `why`: for an evicted task, whom nobody asked to leave.
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

// Of a task that was moved from a lost core since the note was written, the Manager knows better.
void ManagerAgent::handle_note(const sched::Vacated& note, Time now) noexcept {
  Record* record = find(note.task);
  if (record && record->leaving && record->report.core == note.core) {
    promises_.linger(note.core, record->report.contract, now);
    forget(*record);
    housekeeper_.retire(std::move(record->orders.end));
    records_.erase(note.task);
  }
  tell(sched::Vacated{.at = now, .task = note.task, .core = note.core}, now);
  promises_.has_changed();
}

void ManagerAgent::handle_note(const sched::CoreLost& note, Time now) noexcept {
  if (std::erase(returned_, note.core) > 0) return;  // it was not used again yet
  if (lost_.empty()) leaving_.start(now);
  lost_.push_back({.at = now, .core = note.core});
}

void ManagerAgent::handle_note(const sched::CoreReturned& note, Time now) noexcept {
  if (std::erase_if(lost_, [&](const sched::CoreLost& lost) { return lost.core == note.core; }) > 0) return;
  if (returned_.empty()) returning_.start(now);
  returned_.push_back(note.core);
}

// A core on which something of a task that had to end still runs is asked about again. Bound: the cores.
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

// The manager's two threads are on a core that is there, and bound to it: the kernel may have unbound them.
void ManagerAgent::settle_home() noexcept {
  below_binds_again_ = true;
  const auto view = manager_.find(promises_.home());
  if (!view || view->lost) return move_home();
  if (options_.real_time) (void)os::bind_this_thread(promises_.home());
}

// Its tasks go elsewhere as newcomers come: decided on what other processes promise, when they see that we claim it,
// and written down. Whom nothing can be written down for in time must end: he would run where others promise, too.
bool ManagerAgent::leave_lost_core(Time now) noexcept {
  if (lost_.empty() || !leaving_.is_due(now)) return false;
  const sched::CoreLost lost = lost_.front();
  auto claimed = promises_.begin_leaving(lost.core, now);
  if (claimed) claimed = promises_.claim_all();
  if (!claimed && now - lost.at < Newcomers::patience) return leaving_.failed(now), false;
  if (!claimed) promises_.close_all();
  lost_.erase(lost_.begin());
  leaving_.start(now);
  const auto commands = manager_.decide(sched::CoreLost{.at = now, .core = lost.core});
  if (lost.core == promises_.home()) move_home();
  if (claimed) (void)promises_.commit();  // what was claimed stands until it is written
  promises_.has_changed();
  carry_out_all(commands, now);
  raise_bounds();  // those who were moved are on the way of others
  pool_of(lost.core)->strand();
  return true;
}

// This thread goes to another core that is left, where its platform load counts from now on.
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

ManagerAgent::Record* ManagerAgent::find(TaskId task) noexcept {
  const auto at = records_.find(task);
  return at == records_.end() ? nullptr : at->second.get();
}

CorePool* ManagerAgent::pool_of(CoreId core) noexcept {
  for (const auto& pool : pools_)
    if (pool->core() == core) return pool.get();
  return nullptr;
}

}  // namespace corelane::dispatch
