#include "orb/dispatch/cores/core_jobs.h"

#include <algorithm>
#include <utility>

#include "orb/dispatch/budgets/blocking_detector.h"
#include "orb/dispatch/cores/deferred_wakeups.h"
#include "orb/dispatch/cores/task_worker.h"

namespace corelane::dispatch {
namespace {

TimerId timer_of(CoreId core) noexcept { return TimerId{static_cast<std::uint64_t>(core.value)}; }

}  // namespace

CoreJobs::CoreJobs(CoreId core, std::size_t max_tasks, NoteInbox& inbox, RecorderRing* ring, Duration overshoot)
    : core_(core), inbox_(inbox), overshoot_(overshoot), scheduler_(core, max_tasks, timer_of(core), ring) {
  workers_.reserve(max_tasks);
}

void CoreJobs::use_deadlines(sched::NativeRange natives) {
  scheduler_.use_deadlines();
  natives_ = natives;
  levels_.emplace(workers_.capacity(), natives.task_levels());
}

sched::Elapsed CoreJobs::elapsed(Time now) const noexcept { return {.at = now, .timer = timer_of(core_)}; }

// Returns null if the task is not in this pool.
const WorkerPtr* CoreJobs::worker_of(TaskId task) const noexcept {
  for (const WorkerPtr& worker : workers_)
    if (worker->task() == task) return &worker;
  return nullptr;
}

const sched::ScheduledTask* CoreJobs::scheduled_task(TaskId task) const noexcept {
  for (const sched::ScheduledTask& candidate : scheduler_.tasks())
    if (candidate.id == task) return &candidate;
  return nullptr;
}

bool CoreJobs::add(const WorkerPtr& worker, Priority priority) noexcept {
  if (!scheduler_.add(worker->task(), worker->contract_, priority)) return false;
  workers_.push_back(worker);
  return true;
}

void CoreJobs::join(const WorkerPtr& worker, Priority priority, Time now, DeferredWakeups& wakeups) noexcept {
  workers_.push_back(worker);
  carry_out(scheduler_.join(now, worker->task(), worker->contract_, priority), wakeups);
}

CoreJobs::Refused CoreJobs::accept(TaskWorker& worker, JobPtr job, JobId id, Time at,
                                   DeferredWakeups& wakeups) noexcept {
  if (worker.jobs_.full()) {
    scheduler_.turned_away(at, id, worker.task(), sched::RefusalCode::job_waiting);
    return {.job = std::move(job), .reason = {.code = sched::RefusalCode::job_waiting}};
  }
  worker.jobs_.push(id, std::move(job));
  const auto commands = scheduler_.decide(sched::Arrived{.at = at, .job = id, .task = worker.task()});
  Refused result;
  for (const sched::Command& command : commands)
    if (const auto* refuse = std::get_if<sched::Refuse>(&command); refuse && refuse->job == id)
      result = {.job = worker.jobs_.take(id), .reason = refuse->reason};
  carry_out(commands, wakeups);
  tell_of_early_jobs(at, wakeups);
  return result;
}

CoreJobs::Own CoreJobs::arrive_own(TaskWorker& worker, JobPtr& job, Time at, Time now, Assignment& next,
                                   sched::Refusal& reason, DeferredWakeups& wakeups) noexcept {
  if (!scheduled_task(worker.task())) return Own::elsewhere;  // see take()
  Refused refused = accept(worker, std::move(job), next_job_id(), at, wakeups);
  if (refused.job) {
    job = std::move(refused.job);
    reason = refused.reason;
    return Own::refused;
  }
  assign(worker, std::max(at, now), next);
  return Own::taken;
}

void CoreJobs::vacate(TaskId task, Time now, DeferredWakeups& wakeups) noexcept {
  carry_out(scheduler_.vacate(now, task), wakeups);
}

JobList CoreJobs::dismiss(TaskWorker& worker, Time now, DeferredWakeups& wakeups) noexcept {
  JobList cancelled;
  if (!worker.jobs_.is_under_way()) give_place_back(worker.task());
  carry_out(scheduler_.dismiss(now, worker.task()), wakeups, &cancelled);
  return cancelled;
}

// If the task takes a running job along, that may have been the last pending job here. So the CoreScheduler is told the
// time: tasks that leave may do so now, and another job may have to be watched.
sched::ScheduledTask CoreJobs::give_away(const TaskWorker& worker, Time now, DeferredWakeups& wakeups) noexcept {
  std::erase_if(workers_, [&](const WorkerPtr& w) { return w.get() == &worker; });
  give_place_back(worker.task());
  const sched::ScheduledTask task = scheduler_.take(worker.task());
  carry_out(scheduler_.decide(elapsed(now)), wakeups);
  return task;
}

void CoreJobs::receive(const WorkerPtr& worker, const sched::ScheduledTask& task, Time now,
                       DeferredWakeups& wakeups) noexcept {
  workers_.push_back(worker);  // within what was reserved
  worker->jobs_.move_to(core_);
  wakeups.add(worker);  // it may have an early job to wait for
  budgets_.note_demoted();
  carry_out(scheduler_.put(now, task), wakeups);
  place_early_job(*worker, wakeups);
}

void CoreJobs::strand(DeferredWakeups& wakeups) noexcept {
  stranded_ = true;
  for (const WorkerPtr& worker : workers_) {
    if (!worker->jobs_.is_under_way()) continue;
    give_place_back(worker->task());
    worker->placer().demote();
    wakeups.settle(worker);
  }
}

bool CoreJobs::reopen() noexcept {
  if (!workers_.empty()) return false;
  stranded_ = false;
  return true;
}

std::uint64_t CoreJobs::early_jobs(TaskId task) const noexcept {
  const sched::ScheduledTask* found = scheduled_task(task);
  return found ? found->deferred : 0;
}

Time CoreJobs::take(TaskWorker& worker, Time now, Assignment& next, DeferredWakeups& wakeups) noexcept {
  // If the task is no longer here, another pool's lock guards the worker, so not even its fields may be read. The
  // thread that moved it wakes the worker.
  const sched::ScheduledTask* task = scheduled_task(worker.task());
  if (!task) return never;
  const bool waits = has_early_job(worker, *task);
  const Time timer = waits ? task->waiting[0].eligible + overshoot_ : never;
  if (waits && task->waiting[0].eligible > now) return timer;
  if (timer <= now) ++timer_releases_;
  if (waits) carry_out(scheduler_.decide(elapsed(now)), wakeups);
  assign(worker, now, next);
  return never;
}

bool CoreJobs::has_early_job(const TaskWorker& worker, const sched::ScheduledTask& task) noexcept {
  return !worker.jobs_.is_ready() && task.can_start();
}

// Returns when the worker can take a job: at once, when its early job is due, or never (it is woken then).
Time CoreJobs::next_look(const TaskWorker& worker) const noexcept {
  const sched::ScheduledTask* task = scheduled_task(worker.task());
  if (!task) return never;  // see take()
  if (worker.jobs_.is_ready()) return Time{};
  return has_early_job(worker, *task) ? task->waiting[0].eligible + overshoot_ : never;
}

void CoreJobs::assign(TaskWorker& worker, Time now, Assignment& next) noexcept {
  if (!worker.jobs_.is_ready()) return;
  next.context = worker.jobs_.context();
  next.job = worker.jobs_.start();
  const bool cancelled = worker.jobs_.is_cancelled();        // before it began
  worker.stop_.store(cancelled, std::memory_order_relaxed);  // relaxed: read by this job on this thread
  if (cancelled) next.job->time_out();
  scheduler_.started(now, next.context.job, worker.task());
}

Time CoreJobs::end(TaskWorker& worker, const Ended& ended, DeferredWakeups& wakeups) noexcept {
  const auto& [at, job, used, overslept, waited] = ended;
  const Time now = worker.clock_.now();
  scheduler_.ended({.at = at,
                    .job = job,
                    .task = worker.task(),
                    .released = worker.jobs_.context().release,
                    .deadline = worker.jobs_.context().deadline});
  if (overslept > Duration::zero()) scheduler_.overslept(at, job, worker.task(), overslept);
  if (waited > Duration::zero()) scheduler_.blocked(at, job, worker.task(), waited);
  worker.jobs_.end();
  ending_ = job;
  if (scheduler_.has_overrun(worker.task(), job, used))
    carry_out(scheduler_.decide(sched::Overran{.at = now, .job = job, .task = worker.task(), .used = used}), wakeups);
  give_place_back(worker.task());
  if (worker.placer_.restore()) wakeups.settle_self();
  carry_out(scheduler_.decide(sched::Finished{.at = now, .job = job, .task = worker.task(), .used = used}), wakeups);
  place_early_job(worker, wakeups);
  ending_ = {};
  tell_of_early_jobs(now, wakeups);
  return next_look(worker);
}

void CoreJobs::tell(const sched::Fact& fact, DeferredWakeups& wakeups) noexcept {
  carry_out(scheduler_.decide(fact), wakeups);
}

// Notifies the idle watch if only early jobs are left. Notifying it when there is nothing to do is harmless. Cancelled
// and refused jobs do not notify it; the next finish() does.
void CoreJobs::tell_of_early_jobs(Time now, DeferredWakeups& wakeups) const noexcept {
  if (has_early_jobs(now)) wakeups.look_when_idle(early_.watch());
}

bool CoreJobs::has_early_jobs(Time now) const noexcept {
  return early_.has_work(scheduler_.tasks(), now) && scheduler_.idle(now);
}

Time CoreJobs::start_early(Time now, DeferredWakeups& wakeups) noexcept {
  if (!has_early_jobs(now)) return never;
  if (const std::optional<Time> again_at = early_.pay(scheduler_.tasks(), now)) return *again_at;
  scheduler_.allow_early(true);
  carry_out(scheduler_.decide(elapsed(now)), wakeups);
  scheduler_.allow_early(false);
  return never;
}

CoreJobs::Looked CoreJobs::watched_job(Time now) const noexcept {
  const sched::Watch& watched = budgets_.watched();
  const WorkerPtr* worker = watched.job == JobId{} ? nullptr : worker_of(watched.task);
  if (!worker || !budgets_.is_due(now)) return {};
  const TaskWorker& w = **worker;
  return {.worker = *worker,
          .budget = watched.budget,
          .may_sleep = !w.jobs_.is_running() || w.contract_.suspension > Duration::zero(),  // or still being woken
          .found = {.job = watched.job},
          .before = budgets_.unused()};
}

void CoreJobs::check_budget(const Looked& looked, Time now, bool served, DeferredWakeups& wakeups) noexcept {
  if (!budgets_.is_on()) return;
  if (budgets_.has_return(now)) {  // gives jobs that are due their levels back
    carry_out(scheduler_.decide(elapsed(now)), wakeups);
    budgets_.set_alarm();  // in any case, because its time has passed
  }
  const auto& [job, left, asleep] = looked.found;
  const sched::Watch watched = budgets_.watched();
  if (!looked.worker || watched.job != job || watched.budget != looked.budget) return;
  if (left > Duration::zero() && !budgets_.has_waited(looked.found, now)) {  // it was preempted
    // The check itself preempts the job and may take longer than the rest of its budget. So the job gets more time than
    // the check took; otherwise it would never end.
    const Time checked = looked.worker->clock_.now();
    const Duration pause = std::min(2 * (checked - now), BlockingDetector::shortest);
    budgets_.look_after(std::max(left, pause), checked);
    return budgets_.set_alarm();
  }
  // Act before the kernel throttles the thread, which could happen while the thread holds one of our locks.
  const bool enforced = looked.worker->contract_.on_overrun != OverrunPolicy::report;
  if (served && !enforced) {
    looked.worker->placer_.step_back();
    wakeups.settle(looked.worker);
  }
  budgets_.forget_wait();
  const sched::Overran fact{.at = now, .job = watched.job, .task = watched.task, .used = looked.budget - left};
  carry_out(scheduler_.decide(fact), wakeups);
}

// Sets the alarm for the watched job. A running job may have used part of its budget before a preemption or sleep, so
// its CPU clock is read. Only then is a clock read under the lock.
void CoreJobs::watch(const sched::Watch& watched) noexcept {
  budgets_.begin(watched);
  if (!budgets_.is_on()) return;
  if (const WorkerPtr* found = watched.job == JobId{} ? nullptr : worker_of(watched.task)) {
    const TaskWorker& worker = **found;
    const Duration used = worker.jobs_.is_running() ? worker.used_by_job() : Duration::zero();
    budgets_.look_after(watched.budget - used, worker.clock_.now());
  }
  budgets_.set_alarm();
}

void CoreJobs::demote(TaskId task, JobId job, bool cancel, DeferredWakeups& wakeups) noexcept {
  const WorkerPtr* found = worker_of(task);
  if (!found || job == ending_ || (*found)->jobs_.context().job != job) return;
  TaskWorker& worker = **found;
  give_place_back(task);
  worker.placer_.demote();
  budgets_.note_demoted();
  wakeups.settle(*found);
  if (!cancel) return;
  Job* const running = worker.jobs_.cancel();
  if (!running) return;  // its thread has not started it yet: see assign()
  running->time_out();
  // PAIR job.stop: release here -> acquire in rt::StopToken. A servant that stops then finds its job answered.
  worker.stop_.store(true, std::memory_order_release);
}

// Carries out the CoreScheduler's commands. A CoreScheduler never issues the Manager's commands. Arm is not needed,
// because the task that has an early job wakes by itself when the job is eligible. Bound: at most a few commands for
// each task.
void CoreJobs::carry_out(std::span<const sched::Command> commands, DeferredWakeups& wakeups,
                         JobList* cancelled) noexcept {
  for (const sched::Command& command : commands) {
    if (const auto* run = std::get_if<sched::Run>(&command)) {
      make_ready(*run, wakeups);
    } else if (const auto* defer = std::get_if<sched::Defer>(&command)) {
      await_early_job(defer->task, wakeups);
    } else if (const auto* joined = std::get_if<sched::Joined>(&command)) {
      await_early_job(joined->task, wakeups);
    } else if (const auto* cancel = std::get_if<sched::Cancel>(&command)) {
      const WorkerPtr* worker = worker_of(cancel->task);
      if (JobPtr job = worker && cancelled ? (*worker)->jobs_.take(cancel->job) : nullptr)
        cancelled->push_back(std::move(job));
      else
        demote(cancel->task, cancel->job, true, wakeups);
    } else if (const auto* demoted = std::get_if<sched::Demote>(&command)) {
      demote(demoted->task, demoted->job, false, wakeups);
    } else if (const auto* watched = std::get_if<sched::Watch>(&command)) {
      watch(*watched);
    } else if (const auto* vacated = std::get_if<sched::ReportVacated>(&command)) {
      end_visit(*vacated, wakeups);
    }
  }
  budgets_.note_returns(scheduler_.tasks());
}

// The task has left the core, or waits for its move.
void CoreJobs::end_visit(const sched::ReportVacated& vacated, DeferredWakeups& wakeups) noexcept {
  const sched::ScheduledTask* task = scheduled_task(vacated.task);
  if (!task || task->leaving) std::erase_if(workers_, [&](const WorkerPtr& w) { return w->task() == vacated.task; });
  wakeups.note(inbox_, sched::Vacated{.at = {}, .task = vacated.task, .core = vacated.core});
}

void CoreJobs::make_ready(const sched::Run& run, DeferredWakeups& wakeups) noexcept {
  const WorkerPtr* found = worker_of(run.task);
  if (!found) return;
  TaskWorker* worker = found->get();
  place(*worker, run.job, run.deadline, wakeups);
  if (worker->jobs_.context().job == run.job) {  // the job already runs, and now has the place of the next one
    if (!stranded_ && worker->placer().promote()) wakeups.settle(*found);
    return;
  }
  worker->jobs_.make_ready({.task = run.task,
                            .job = run.job,
                            .core = core_,
                            .release = run.released,
                            .deadline = run.deadline,
                            .budget = worker->contract_.budget});
  wakeups.add(*found);
}

// Wakes the task's thread, so that it learns when its early job is eligible. At that time it wakes by itself.
void CoreJobs::await_early_job(TaskId task, DeferredWakeups& wakeups) noexcept {
  const WorkerPtr* worker = worker_of(task);
  if (!worker) return;
  place_early_job(**worker, wakeups);
  wakeups.add(*worker);
}

// Gives an early job its level, above jobs with later deadlines, before it is eligible.
void CoreJobs::place_early_job(const TaskWorker& worker, DeferredWakeups& wakeups) noexcept {
  const sched::ScheduledTask* task = levels_ ? scheduled_task(worker.task()) : nullptr;
  if (!task || !has_early_job(worker, *task)) return;
  const sched::WaitingJob& next = task->waiting[0];
  place(worker, next.job, next.released + worker.contract_.deadline, wakeups);
}

// On a core scheduled by deadlines, gives the job the level of its deadline before any thread is woken.
void CoreJobs::place(const TaskWorker& worker, JobId job, Time deadline, DeferredWakeups& wakeups) noexcept {
  if (!levels_) return;
  for (const auto& change : levels_->place(worker.task(), job, deadline - worker.contract_.jitter)) {
    const WorkerPtr* changed = worker_of(change.task);
    if (!changed) continue;
    const int native = sched::native_of(change.level, natives_);
    if (!wakeups.is_self(**changed))
      (*changed)->placer().set_level(native);
    else if (!(*changed)->placer().raise_level(native))
      wakeups.settle_self();
  }
}

void CoreJobs::give_place_back(TaskId task) noexcept {
  if (levels_) levels_->remove(task);
}

}  // namespace corelane::dispatch
