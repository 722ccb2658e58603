#include "orb/dispatch/manager/admitted_tasks.h"

#include <new>
#include <string>
#include <utility>

#include "orb/base/errors.h"
#include "orb/dispatch/job_source.h"

namespace corelane::dispatch {

AdmittedTasks::AdmittedTasks(const ExecutiveOptions& options, const Clock& clock, RecordedManager& manager,
                             LedgerClient& promises, CorePools& pools, const Shared& shared)
    : options_(options),
      clock_(clock),
      manager_(manager),
      promises_(promises),
      pools_(pools),
      shared_(shared),
      records_(options.max_tasks),
      leases_(options.task_lease, options.max_tasks) {}

bool AdmittedTasks::admit(const sched::Admit& admit, AdmissionCandidate& candidate, Time now) noexcept {
  CorePool* const pool = pools_.of(admit.core);
  TaskRecord* const record = pool ? take_room(admit, candidate, *pool) : nullptr;
  if (!record) return false;
  ++admitted_;
  record->handler = std::move(candidate.handler);
  if (candidate.job) {
    candidate.job->task = admit.task;
    candidate.job->arrived = now;  // its contract begins now
    record->first_jobs.push_back(std::move(candidate.job));
  }
  manager_.name(admit.task, *record->label);
  if (admit.waits_for_idle)
    pool->join(record->worker, admit.priority, now);
  else
    pool->add(record->worker, admit.priority);
  shared_.hints.set(admit.task, admit.priority);
  shared_.departures.know(admit.task, admit.peer);
  leases_.add(admit.task, admit.peer, admit.contract.period, now);
  if (look_at() != never) shared_.below.unpark();  // so that it learns when it has to look
  raise_bounds();
  start_thread(*record, now);
  return true;
}

// Allocates all that the task needs in its life. Null: there is not enough memory, and nothing has happened.
TaskRecord* AdmittedTasks::take_room(const sched::Admit& admit, const AdmissionCandidate& candidate,
                                     CorePool& pool) noexcept try {
  auto made = std::make_unique<TaskRecord>();
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
  made->worker->placer().placement(pools_.placement_on(pool, admit.priority, admit.contract));
  made->orders = Housekeeper::orders_for("cl-task-" + std::to_string(admit.task.value), made->worker);
  made->last = std::make_shared<TaskReport>();
  made->last->label = candidate.label;
  made->last->latest_misses.reserve(MissLog::capacity);
  made->row = shared_.counters.add(made->worker, admit, candidate.label, candidate.holder);
  return &records_.put(std::move(made));
} catch (const std::bad_alloc&) {
  return nullptr;
}

// A spare thread gets its job before it is woken, so that it wakes once.
void AdmittedTasks::start_thread(TaskRecord& record, Time now) noexcept {
  auto thread = shared_.housekeeper.take(*record.orders.begin);
  if (!thread) return shared_.housekeeper.start(std::move(record.orders.begin));
  record.worker->placer().attach(thread.get());
  on_started(ThreadStarted{.task = record.task(), .real_time = thread->real_time()}, now);
  thread->begin();
  shared_.housekeeper.adopt(std::move(record.orders.begin), std::move(thread));
}

void AdmittedTasks::raise_bounds() noexcept {
  records_.for_each([this](TaskRecord& record) {
    const auto view = manager_.find(record.task());
    if (!view || view->response <= record.report.bound) return;
    record.report.bound = view->response;
    CounterPublisher::raise_bound(record.row, view->response);
  });
}

void AdmittedTasks::dispatch(TaskId task, JobPtr job) noexcept {
  TaskRecord* const record = records_.find(task);
  if (!record) return job->fail(errors::task_gone);
  if (!record->started) return record->first_jobs.push_back(std::move(job));
  const Time at = job->arrived;
  hand_over(*record, std::move(job), at);
}

void AdmittedTasks::hand_over(TaskRecord& record, JobPtr job, Time at) noexcept {
  const JobId id = job->id_;
  auto refused = pools_.of(record.report.core)->arrive(*record.worker, std::move(job), id, at);
  if (!refused.job) return;
  record.worker->note_refused(refused.reason.code);
  refused.job->refuse(refused.reason);
}

void AdmittedTasks::carry_out(const sched::Reprioritize& change, Time) noexcept {
  TaskRecord* const record = records_.find(change.task);
  if (!record) return;
  CorePool* const pool = pools_.of(change.core);
  if (pool) pool->reprioritize(change.task, change.priority);  // task may be absent
  if (record->report.core != change.core) return;
  record->report.priority = change.priority;
  if (pool && pool->order() == sched::CoreOrder::priority)
    record->worker->placer().placement(pools_.placement_on(*pool, change.priority, record->report.contract));
  shared_.hints.set(change.task, change.priority);
}

// A job that has locked the resource runs at the new ceiling from here on. Bound: the tasks of the process.
void AdmittedTasks::carry_out(const sched::Ceiling& ceiling, Time) noexcept {
  ceilings_.set(ceiling.resource, ceiling.core, pools_.native_ceiling(ceiling.priority));
  records_.for_each([&](const TaskRecord& record) {
    if (record.report.core == ceiling.core && uses_resources(record.report.contract))
      record.worker->placer().refresh_ceilings();
  });
}

void AdmittedTasks::carry_out(const sched::Vacate& vacate, Time now) noexcept {
  if (CorePool* const pool = pools_.of(vacate.core)) pool->vacate(vacate.task, now);
}

// Moves a task. On a lost core it was not vacated, so the job that it may be running moves with it.
void AdmittedTasks::carry_out(const sched::Move& move, Time now) noexcept {
  TaskRecord* const record = records_.find(move.task);
  CorePool* const to = pools_.of(move.to);
  if (!record || !to) return;
  const CoreId from = std::exchange(record->report.core, move.to);
  record->report.priority = move.priority;
  const ThreadPlacement placement = pools_.placement_on(*to, move.priority, record->report.contract);
  record->worker->placer().placement(placement);
  pools_.of(from)->move(record->worker, *to, move.priority, now);
  // The old pool may have changed the placement meanwhile. On a core by deadlines the new pool has changed it, too.
  // Then this function does not change it again.
  if (to->order() != sched::CoreOrder::deadline) record->worker->placer().placement(placement);
  shared_.hints.set(move.task, move.priority);
  if (from != move.to) promises_.extend(from, record->report.contract, now);
}

// Ends a task after CoreLost; it has left the Manager already. Its client learns the reason from the answers to its
// jobs: those that wait, and those that it sends later.
void AdmittedTasks::carry_out(const sched::Evict& evict, Time now) noexcept {
  history_.note_end(evict.task, sched::RefusalCode::core_lost);
  if (TaskRecord* const record = records_.find(evict.task)) let_go(*record, evict.reason, now);
}

bool AdmittedTasks::dismiss(const sched::Dismiss& dismiss, Time now) noexcept {
  TaskRecord* const record = records_.find(dismiss.task);
  if (record) let_go(*record, record->why, now);
  return record != nullptr;
}

void AdmittedTasks::will_end(TaskId task, sched::RefusalCode why) noexcept {
  if (TaskRecord* const record = records_.find(task)) record->why = sched::Refusal{.code = why};
  history_.note_end(task, why);
}

// Returns how many jobs ended or were turned away; nothing while a job is under way.
std::optional<std::uint64_t> AdmittedTasks::use_of(TaskId task) noexcept {
  const TaskRecord* const record = records_.find(task);
  if (!record) return 0;
  if (!record->first_jobs.empty() || CorePool::has_jobs(*record->worker)) return std::nullopt;
  const TaskStatistics& statistics = record->worker->statistics();
  return statistics.response.count() + statistics.refused.load(std::memory_order_relaxed);  // relaxed: counts
}

void AdmittedTasks::give(const PeerInbox::Attachment& attachment) noexcept {
  TaskRecord* const record = records_.find(attachment.task);
  const bool theirs = record && !record->leaving && record->report.owner == attachment.owner;
  if (!theirs || !record->worker->give(attachment.source)) attachment.source->close();
}

// Ends the task's jobs and takes it from the core. `why`: for a task that ends without a request from its client.
void AdmittedTasks::let_go(TaskRecord& record, const std::optional<sched::Refusal>& why, Time now) noexcept {
  record.leaving = true;
  leases_.remove(record.task());
  shared_.hints.erase(record.task());
  shared_.departures.forget(record.task());
  if (auto handler = std::exchange(record.handler, nullptr))
    why ? handler->refused(*why) : handler->failed(errors::task_gone);
  CorePool* const pool = pools_.of(record.report.core);
  record.report.early = pool->early_jobs(record.task());
  JobList cancelled = pool->dismiss(*record.worker, now);
  const auto answer = [&](JobPtr job) { why ? job->refuse(*why) : job->fail(errors::task_gone); };
  // Bound: jobs of one task.
  while (JobPtr job = cancelled.pop_front()) answer(std::move(job));
  while (JobPtr job = record.first_jobs.pop_front()) answer(std::move(job));
}

void AdmittedTasks::on_started(const ThreadStarted& note, Time now) noexcept {
  TaskRecord* const record = records_.find(note.task);
  if (!record || record->leaving) return;
  record->started = true;
  record->report.real_time = note.real_time;
  if (record->handler) {
    const TaskReport& r = record->report;
    std::exchange(record->handler, nullptr)
        ->admitted({.task = r.task, .core = r.core, .priority = r.priority, .bound = r.bound});
  }
  // Bound: the jobs that came meanwhile.
  while (JobPtr job = record->first_jobs.pop_front()) hand_over(*record, std::move(job), now);
}

bool AdmittedTasks::on_failed(const ThreadFailed& note) noexcept {
  TaskRecord* const record = records_.find(note.task);
  if (!record) return false;
  if (record->handler) std::exchange(record->handler, nullptr)->failed(note.error);
  while (JobPtr job = record->first_jobs.pop_front()) job->fail(note.error);  // bound: as above
  return true;
}

// If the task was moved from a lost core after the note was written, its record stays, and the Manager handles the
// note.
void AdmittedTasks::on_vacated(const sched::Vacated& note, Time now) noexcept {
  const TaskRecord* const record = records_.find(note.task);
  if (!record || !record->leaving || record->report.core != note.core) return;
  promises_.extend(note.core, record->report.contract, now);
  const std::unique_ptr<TaskRecord> left = records_.take(note.task);
  forget(*left);
  shared_.housekeeper.retire(std::move(left->orders.end));
}

// Turns the record into the task's last report.
void AdmittedTasks::forget(TaskRecord& record) noexcept {
  shared_.counters.remove(record.row);
  TaskReport& last = *record.last;
  std::swap(record.report.label, last.label);  // keeps the string that has room
  std::swap(record.report.latest_misses, last.latest_misses);
  std::swap(record.report, last);
  copy_counters(last, *record.worker);
  last.gone = true;
  history_.add(std::move(record.last));
}

void AdmittedTasks::add_to(TaskReports& reports) const {
  records_.for_each([&](const TaskRecord& record) {
    const bool left = record.leaving;
    reports.add(record, left ? record.report.early : pools_.of(record.report.core)->early_jobs(record.task()));
  });
  reports.add(history_);
}

void AdmittedTasks::let_all_go(Time now) noexcept {
  records_.for_each([&](TaskRecord& record) {
    if (record.handler) std::exchange(record.handler, nullptr)->failed(errors::shutting_down);
    let_go(record, std::nullopt, now);
  });
}

void AdmittedTasks::forget_all() noexcept {
  records_.for_each([this](TaskRecord& record) { forget(record); });
  records_.clear();
}

}  // namespace corelane::dispatch
