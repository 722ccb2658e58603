#include "orb/dispatch/cores/core_pool.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "orb/dispatch/cores/deferred_wakeups.h"
#include "orb/dispatch/cores/task_worker.h"
#include "orb/sched/share.h"

namespace corelane::dispatch {
namespace {

TimerId timer_of(CoreId core) noexcept { return TimerId{static_cast<std::uint64_t>(core.value)}; }

}  // namespace

// Locks the pool that has the worker's task. A job may be moved while it runs, so the check is repeated under the lock.
// Bound: the number of lost cores.
class CorePool::Home {
 public:
  explicit Home(const TaskWorker& worker) noexcept {
    for (;;) {
      // PAIR worker.pool: acquire here <- release in CorePool::receive().
      pool_ = worker.pool_.load(std::memory_order_acquire);
      pool_->mutex_.lock();
      if (worker.pool_.load(std::memory_order_relaxed) == pool_) return;  // relaxed: changes under this lock
      pool_->mutex_.unlock();
    }
  }
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;
  ~Home() { pool_->mutex_.unlock(); }
  CorePool* operator->() const noexcept { return pool_; }

 private:
  CorePool* pool_ = nullptr;
};

CorePool::CorePool(CoreId core, std::size_t max_tasks, NoteInbox& inbox, RecorderRing* ring, Duration overshoot)
    : core_(core), inbox_(inbox), overshoot_(overshoot), scheduler_(core, max_tasks, timer_of(core), ring) {
  workers_.reserve(max_tasks);
}

void CorePool::use_deadlines(sched::NativeRange natives) {
  scheduler_.use_deadlines();
  natives_ = natives;
  levels_.emplace(workers_.capacity(), natives.task_levels());
  order_ = sched::CoreOrder::deadline;
}

void CorePool::use_servers() {
  scheduler_.use_deadlines();
  order_ = sched::CoreOrder::served;
}

sched::Elapsed CorePool::elapsed(Time now) const noexcept { return {.at = now, .timer = timer_of(core_)}; }

// Returns null if the task is not in this pool.
const WorkerPtr* CorePool::worker_of(TaskId task) const noexcept {
  for (const WorkerPtr& worker : workers_)
    if (worker->task() == task) return &worker;
  return nullptr;
}

const sched::ScheduledTask* CorePool::scheduled_task(TaskId task) const noexcept {
  for (const sched::ScheduledTask& candidate : scheduler_.tasks())
    if (candidate.id == task) return &candidate;
  return nullptr;
}

bool CorePool::add(const WorkerPtr& worker, Priority priority) noexcept {
  const std::lock_guard lock(mutex_);
  if (!scheduler_.add(worker->task(), worker->contract_, priority)) return false;
  workers_.push_back(worker);
  return true;
}

void CorePool::join(const WorkerPtr& worker, Priority priority, Time now) noexcept {
  DeferredWakeups wakeups;
  const std::lock_guard lock(mutex_);
  workers_.push_back(worker);
  carry_out(scheduler_.join(now, worker->task(), worker->contract_, priority), wakeups);
}

void CorePool::reprioritize(TaskId task, Priority priority) noexcept {
  const std::lock_guard lock(mutex_);
  scheduler_.reprioritize(task, priority);
}

CorePool::Refused CorePool::arrive(TaskWorker& worker, JobPtr job, JobId id, Time at) noexcept {
  DeferredWakeups wakeups;
  const std::lock_guard lock(mutex_);
  return accept(worker, std::move(job), id, at, wakeups);
}

CorePool::Own CorePool::arrive_own(TaskWorker& worker, JobPtr& job, Time at, Time now, Assignment& next,
                                   sched::Refusal& reason) noexcept {
  DeferredWakeups wakeups(&worker);
  const std::lock_guard lock(mutex_);
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

CorePool::Refused CorePool::accept(TaskWorker& worker, JobPtr job, JobId id, Time at,
                                   DeferredWakeups& wakeups) noexcept {
  if (worker.job_count_ == worker.jobs_.size()) {
    scheduler_.turned_away(at, id, worker.task(), sched::RefusalCode::job_waiting);
    return {.job = std::move(job), .reason = {.code = sched::RefusalCode::job_waiting}};
  }
  worker.jobs_[worker.job_count_++] = {.id = id, .job = std::move(job)};
  const auto commands = scheduler_.decide(sched::Arrived{.at = at, .job = id, .task = worker.task()});
  Refused result;
  for (const sched::Command& command : commands)
    if (const auto* refuse = std::get_if<sched::Refuse>(&command); refuse && refuse->job == id)
      result = {.job = remove(worker, id), .reason = refuse->reason};
  carry_out(commands, wakeups);
  tell_of_early_jobs(at, wakeups);
  return result;
}

void CorePool::vacate(TaskId task, Time now) noexcept {
  DeferredWakeups wakeups;
  const std::lock_guard lock(mutex_);
  carry_out(scheduler_.vacate(now, task), wakeups);
}

JobList CorePool::dismiss(TaskWorker& worker, Time now) noexcept {
  DeferredWakeups wakeups;
  JobList cancelled;
  const std::lock_guard lock(mutex_);
  if (!worker.ready_ && !worker.running_) give_place_back(worker.task());
  carry_out(scheduler_.dismiss(now, worker.task()), wakeups, &cancelled);
  return cancelled;
}

// Locks the pool of the lower core first, so that no two threads lock two pools in different orders.
void CorePool::move(const WorkerPtr& worker, CorePool& to, Priority priority, Time now) noexcept {
  DeferredWakeups wakeups;
  CorePool& first = to.core_ < core_ ? to : *this;
  const std::lock_guard lock(first.mutex_);
  std::unique_lock<os::PiMutex> other;
  if (&to != this) other = std::unique_lock((&first == this ? to : *this).mutex_);
  sched::ScheduledTask task = give_away(*worker);
  task.priority = priority;
  to.receive(worker, task, now, wakeups);
}

sched::ScheduledTask CorePool::give_away(const TaskWorker& worker) noexcept {
  std::erase_if(workers_, [&](const WorkerPtr& w) { return w.get() == &worker; });
  give_place_back(worker.task());
  if (watched_.task == worker.task()) watch({});
  return scheduler_.take(worker.task());
}

void CorePool::receive(const WorkerPtr& worker, const sched::ScheduledTask& task, Time now,
                       DeferredWakeups& wakeups) noexcept {
  workers_.push_back(worker);  // within what was reserved
  if (worker->ready_) worker->context_.core = core_;
  // PAIR worker.pool: release here -> acquire in TaskWorker::step() and Home.
  worker->pool_.store(this, std::memory_order_release);
  wakeups.add(worker);  // it may have an early job to wait for
  may_return_ = true;
  carry_out(scheduler_.put(now, task), wakeups);
  place_early_job(*worker, wakeups);
}

void CorePool::strand() noexcept {
  DeferredWakeups wakeups;
  const std::lock_guard lock(mutex_);
  stranded_ = true;
  for (const WorkerPtr& worker : workers_) {
    if (!worker->ready_ && !worker->running_) continue;
    give_place_back(worker->task());
    worker->demote();
    wakeups.settle(worker);
  }
}

bool CorePool::reopen() noexcept {
  const std::lock_guard lock(mutex_);
  if (!workers_.empty()) return false;
  stranded_ = false;
  return true;
}

std::uint64_t CorePool::early_jobs(TaskId task) const noexcept {
  const std::lock_guard lock(mutex_);
  const sched::ScheduledTask* found = scheduled_task(task);
  return found ? found->deferred : 0;
}

std::uint64_t CorePool::timer_releases() const noexcept {
  const std::lock_guard lock(mutex_);
  return timer_releases_;
}

Time CorePool::take(TaskWorker& worker, Time now, Assignment& next) noexcept {
  DeferredWakeups wakeups(&worker);
  const std::lock_guard lock(mutex_);
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

bool CorePool::has_early_job(const TaskWorker& worker, const sched::ScheduledTask& task) noexcept {
  return !worker.ready_ && task.can_start();
}

// Returns when the worker can take a job: at once, when its early job is due, or never (it is woken then).
Time CorePool::next_look(const TaskWorker& worker) const noexcept {
  const sched::ScheduledTask* task = scheduled_task(worker.task());
  if (!task) return never;  // see take()
  if (worker.ready_) return Time{};
  return has_early_job(worker, *task) ? task->waiting[0].eligible + overshoot_ : never;
}

void CorePool::assign(TaskWorker& worker, Time now, Assignment& next) noexcept {
  if (!std::exchange(worker.ready_, false)) return;
  next.context = worker.context_;
  next.job = remove(worker, worker.context_.job);
  worker.running_ = next.job.get();
  const bool cancelled = next.context.job == worker.cancelled_;  // before it began
  worker.stop_.store(cancelled, std::memory_order_relaxed);      // relaxed: read by this job on this thread
  if (cancelled) next.job->time_out();
  scheduler_.started(now, next.context.job, worker.task());
}

// A demoted thread gets its level back before the CoreScheduler learns of the job's end. The waiting jobs of its task
// are spaced from that time on, and below all tasks much time may pass after the clock was read. Bound: a job is
// demoted at most once in each period of its task.
Time CorePool::finish(TaskWorker& worker, const Ended& ended) noexcept {
  for (;;) {
    DeferredWakeups wakeups(&worker);
    const Home home(worker);
    if (worker.is_served()) return home->end(worker, ended, wakeups);
    worker.restore();
    wakeups.settle_self();
  }
}

Time CorePool::end(TaskWorker& worker, const Ended& ended, DeferredWakeups& wakeups) noexcept {
  const auto& [at, job, used, overslept, waited] = ended;
  const Time now = worker.clock_.now();
  scheduler_.ended({.at = at,
                    .job = job,
                    .task = worker.task(),
                    .released = worker.context_.release,
                    .deadline = worker.context_.deadline});
  if (overslept > Duration::zero()) scheduler_.overslept(at, job, worker.task(), overslept);
  if (waited > Duration::zero()) scheduler_.blocked(at, job, worker.task(), waited);
  worker.running_ = nullptr;
  ending_ = job;
  if (scheduler_.has_overrun(worker.task(), job, used))
    carry_out(scheduler_.decide(sched::Overran{.at = now, .job = job, .task = worker.task(), .used = used}), wakeups);
  give_place_back(worker.task());
  if (worker.restore()) wakeups.settle_self();
  carry_out(scheduler_.decide(sched::Finished{.at = now, .job = job, .task = worker.task(), .used = used}), wakeups);
  place_early_job(worker, wakeups);
  ending_ = {};
  tell_of_early_jobs(now, wakeups);
  return next_look(worker);
}

void CorePool::suspend(TaskWorker& worker, JobId job, Time at) noexcept {
  DeferredWakeups wakeups(&worker);
  const Home home(worker);
  home->carry_out(home->scheduler_.decide(sched::Suspended{.at = at, .job = job, .task = worker.task()}), wakeups);
}

void CorePool::resume(TaskWorker& worker, JobId job, Time at) noexcept {
  DeferredWakeups wakeups(&worker);
  const Home home(worker);
  home->carry_out(home->scheduler_.decide(sched::Resumed{.at = at, .job = job, .task = worker.task()}), wakeups);
}

bool CorePool::has_jobs(const TaskWorker& worker) noexcept {
  const Home home(worker);
  return worker.ready_ || worker.running_ != nullptr || worker.job_count_ > 0;
}

std::size_t CorePool::waiting_jobs(const TaskWorker& worker) noexcept {
  const Home home(worker);
  return worker.job_count_;
}

void CorePool::watch_idleness(IdleWatch* watch, sched::Ppm share) noexcept {
  const std::lock_guard lock(mutex_);
  idle_watch_ = watch;
  share_ = share;
}

// Notifies the idle watch if only early jobs are left. Notifying it when there is nothing to do is harmless. Cancelled
// and refused jobs do not notify it; the next finish() does.
void CorePool::tell_of_early_jobs(Time now, DeferredWakeups& wakeups) const noexcept {
  if (idle_watch_ && early_work(now) > Duration::zero() && scheduler_.idle(now)) wakeups.look_when_idle(idle_watch_);
}

bool CorePool::has_early_jobs(Time now) const noexcept {
  const std::lock_guard lock(mutex_);
  return idle_watch_ && early_work(now) > Duration::zero() && scheduler_.idle(now);
}

// Returns the sum of the budgets of the early jobs that could start. Bound: the core's tasks.
Duration CorePool::early_work(Time now) const noexcept {
  Duration sum{};
  for (const sched::ScheduledTask& task : scheduler_.tasks())
    if (task.can_start() && task.waiting[0].eligible > now) sum += task.contract.budget;
  return sum;
}

// Returns the part of the core's share that its tasks do not use. Bound: the core's tasks.
sched::Ppm CorePool::unpromised() const noexcept {
  sched::Ppm left = share_;
  for (const sched::ScheduledTask& task : scheduler_.tasks())
    left -= sched::ppm_of(sched::share_of(task.contract.budget.count(), task.contract.period.count()));
  return left;
}

Time CorePool::start_early(Time now) noexcept {
  constexpr sched::Ppm least = sched::whole_core / 1000;
  DeferredWakeups wakeups;
  const std::lock_guard lock(mutex_);
  const Duration work = early_work(now);
  if (!idle_watch_ || work == Duration::zero() || !scheduler_.idle(now)) return never;
  if (now < early_from_) return early_from_;
  const sched::Ppm left = unpromised();
  if (left < least) return never;
  early_from_ = now + std::min<Duration>(work, longest_period) * sched::whole_core / left;
  for (const sched::ScheduledTask& task : scheduler_.tasks())
    if (task.can_start() && task.waiting[0].eligible > now) ++early_starts_;
  scheduler_.allow_early(true);
  carry_out(scheduler_.decide(elapsed(now)), wakeups);
  scheduler_.allow_early(false);
  return never;
}

std::uint64_t CorePool::early_starts() const noexcept {
  const std::lock_guard lock(mutex_);
  return early_starts_;
}

void CorePool::demote(TaskId task, JobId job, bool cancel, DeferredWakeups& wakeups) noexcept {
  const WorkerPtr* found = worker_of(task);
  if (!found || job == ending_ || (*found)->context_.job != job) return;
  TaskWorker& worker = **found;
  give_place_back(task);
  worker.demote();
  may_return_ = true;
  wakeups.settle(*found);
  if (!cancel) return;
  worker.cancelled_ = job;
  if (!worker.running_) return;  // its thread has not started it yet: see assign()
  worker.running_->time_out();
  // PAIR job.stop: release here -> acquire in rt::StopToken. A servant that stops then finds its job answered.
  worker.stop_.store(true, std::memory_order_release);
}

// Carries out the CoreScheduler's commands. A CoreScheduler never issues the Manager's commands. Arm is not needed,
// because the task that has an early job wakes by itself when the job is eligible. Bound: at most a few commands for
// each task.
void CorePool::carry_out(std::span<const sched::Command> commands, DeferredWakeups& wakeups,
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
      if (JobPtr job = worker && cancelled ? remove(**worker, cancel->job) : nullptr)
        cancelled->push_back(std::move(job));
      else
        demote(cancel->task, cancel->job, true, wakeups);
    } else if (const auto* demoted = std::get_if<sched::Demote>(&command)) {
      demote(demoted->task, demoted->job, false, wakeups);
    } else if (const auto* watched = std::get_if<sched::Watch>(&command)) {
      watch(*watched);
    } else if (const auto* vacated = std::get_if<sched::ReportVacated>(&command)) {
      const sched::ScheduledTask* task = scheduled_task(vacated->task);
      if (!task || task->leaving)
        std::erase_if(workers_, [&](const WorkerPtr& w) { return w->task() == vacated->task; });
      wakeups.note(inbox_, sched::Vacated{.at = {}, .task = vacated->task, .core = vacated->core});
    }
  }
  note_returns();
}

void CorePool::make_ready(const sched::Run& run, DeferredWakeups& wakeups) noexcept {
  const WorkerPtr* found = worker_of(run.task);
  if (!found) return;
  TaskWorker* worker = found->get();
  place(*worker, run.job, run.deadline, wakeups);
  if (worker->context_.job == run.job) {  // the job already runs, and now has the place of the next one
    if (!stranded_ && worker->promote()) wakeups.settle(*found);
    return;
  }
  worker->context_ = {.task = run.task,
                      .job = run.job,
                      .core = core_,
                      .release = run.released,
                      .deadline = run.deadline,
                      .budget = worker->contract_.budget};
  worker->ready_ = true;
  wakeups.add(*found);
}

// Wakes the task's thread, so that it learns when its early job is eligible. At that time it wakes by itself.
void CorePool::await_early_job(TaskId task, DeferredWakeups& wakeups) noexcept {
  const WorkerPtr* worker = worker_of(task);
  if (!worker) return;
  place_early_job(**worker, wakeups);
  wakeups.add(*worker);
}

// Gives an early job its level, above jobs with later deadlines, before it is eligible.
void CorePool::place_early_job(const TaskWorker& worker, DeferredWakeups& wakeups) noexcept {
  const sched::ScheduledTask* task = levels_ ? scheduled_task(worker.task()) : nullptr;
  if (!task || !has_early_job(worker, *task)) return;
  const sched::WaitingJob& next = task->waiting[0];
  place(worker, next.job, next.released + worker.contract_.deadline, wakeups);
}

// On a core scheduled by deadlines, gives the job the level of its deadline before any thread is woken.
void CorePool::place(const TaskWorker& worker, JobId job, Time deadline, DeferredWakeups& wakeups) noexcept {
  if (!levels_) return;
  for (const auto& change : levels_->place(worker.task(), job, deadline - worker.contract_.jitter)) {
    const WorkerPtr* changed = worker_of(change.task);
    if (!changed) continue;
    const int native = sched::native_of(change.level, natives_);
    if (!wakeups.is_self(**changed))
      (*changed)->set_level(native);
    else if (!(*changed)->raise_level(native))
      wakeups.settle_self();
  }
}

void CorePool::give_place_back(TaskId task) noexcept {
  if (levels_) levels_->remove(task);
}

JobPtr CorePool::remove(TaskWorker& worker, JobId id) noexcept {
  auto* const end = worker.jobs_.data() + worker.job_count_;
  auto* const at = std::find_if(worker.jobs_.data(), end, [&](const TaskWorker::Entry& e) { return e.id == id; });
  if (at == end) return nullptr;
  JobPtr job = std::move(at->job);
  std::move(at + 1, end, at);
  --worker.job_count_;
  return job;
}

}  // namespace corelane::dispatch
