#include "orb/sched/schedulers/core_scheduler.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace corelane::sched {
namespace {

// Spaces the waiting jobs again by the release rule. No job is eligible before `now`, and the first one has the nominal
// release `first` or later. Afterwards TAT is at least the nominal release of the next job.
void space_from(ScheduledTask& task, Time now, Time first) noexcept {
  for (std::size_t i = 0; i < task.waiting_count; ++i) {
    WaitingJob& job = task.waiting[i];
    job.nominal = std::max(job.nominal, first);
    job.eligible = std::max({job.eligible, now, job.nominal - task.contract.jitter});
    first = job.nominal + task.contract.period;
  }
  task.tat = std::max(task.tat, first);
}

}  // namespace

CoreScheduler::CoreScheduler(CoreId core, std::size_t max_tasks, TimerId timer) : core_(core), timer_(timer) {
  tasks_.reserve(max_tasks);
  commands_.reserve(4 * max_tasks + 4 * max_waiting);
}

ScheduledTask* CoreScheduler::find(TaskId task) noexcept {
  const auto found = std::find_if(tasks_.begin(), tasks_.end(), [&](const ScheduledTask& t) { return t.id == task; });
  return found == tasks_.end() ? nullptr : &*found;
}

// Returns the task if this job of it is the running one.
ScheduledTask* CoreScheduler::running(TaskId task, JobId job) noexcept {
  ScheduledTask* found = find(task);
  return found != nullptr && found->busy && found->running == job ? found : nullptr;
}

Duration CoreScheduler::granted(TaskId task, JobId job) const noexcept {
  for (const ScheduledTask& each : tasks_)
    if (each.id == task && each.pending() && each.running == job) return each.granted;
  return Duration::max();
}

bool CoreScheduler::insert(const ScheduledTask& task) noexcept {
  if (tasks_.size() == tasks_.capacity() || find(task.id) != nullptr) return false;
  const auto place = std::find_if(tasks_.begin(), tasks_.end(),
                                  [&](const ScheduledTask& other) { return other.priority < task.priority; });
  tasks_.insert(place, task);
  return true;
}

void CoreScheduler::erase(const ScheduledTask* task) noexcept { tasks_.erase(tasks_.begin() + (task - tasks_.data())); }

bool CoreScheduler::add(TaskId task, const Contract& contract, Priority priority) noexcept {
  return insert({.id = task, .contract = contract, .priority = priority});
}

std::span<const Command> CoreScheduler::join(Time now, TaskId task, const Contract& contract,
                                             Priority priority) noexcept {
  commands_.clear();
  if (!insert({.id = task, .contract = contract, .priority = priority, .joining = true})) return commands_;
  return settle(now);
}

bool CoreScheduler::reprioritize(TaskId task, Priority priority) noexcept {
  const ScheduledTask* found = find(task);
  if (found == nullptr) return false;
  ScheduledTask changed = *found;
  // Follows the kernel's rule: a raised thread becomes the last one of its new level, a lowered thread the first one.
  if (changed.priority != priority) changed.order = changed.priority < priority ? ++last_order_ : --first_order_;
  changed.priority = priority;
  erase(found);
  insert(changed);
  return !changed.demoted;
}

// Processing of facts.

std::span<const Command> CoreScheduler::decide(const Fact& fact) noexcept {
  commands_.clear();
  if (const auto* arrived = std::get_if<Arrived>(&fact)) arrive(*arrived);
  if (const auto* finished = std::get_if<Finished>(&fact)) finish(*finished);
  if (const auto* suspended = std::get_if<Suspended>(&fact)) suspend(*suspended);
  if (const auto* resumed = std::get_if<Resumed>(&fact)) resume(*resumed);
  if (const auto* elapsed = std::get_if<Elapsed>(&fact); elapsed != nullptr && elapsed->timer == timer_) armed_ = never;
  if (const auto* used_up = std::get_if<Overran>(&fact)) overran(*used_up);
  return settle(time_of(fact));
}

void CoreScheduler::arrive(const Arrived& fact) noexcept {
  ScheduledTask* task = find(fact.task);
  if (task == nullptr || task->leaving) return refuse(fact.job, RefusalCode::unknown_task);
  const bool one_is_early = task->waiting_count > 0 && task->waiting[task->waiting_count - 1].eligible > fact.at;
  if (one_is_early || task->waiting_count == max_waiting) return refuse(fact.job, RefusalCode::job_waiting);
  const Contract& contract = task->contract;
  const Time nominal = task->started ? std::max(fact.at, task->tat) : fact.at;
  const Time eligible = std::max(fact.at, nominal - contract.jitter);
  task->waiting[task->waiting_count++] = {fact.job, eligible, nominal, eligible};
  task->started = true;
  task->tat = nominal + contract.period;
  const Time now = std::max(fact.at, latest_);
  const bool starts_now = eligible <= now || (early_allowed_ && task->can_start() && idle(now));
  if (starts_now) return;
  ++task->deferred;
  commands_.push_back(Defer{fact.job, task->id, eligible});
}

void CoreScheduler::finish(const Finished& fact) noexcept {
  ScheduledTask* task = running(fact.task, fact.job);
  if (task == nullptr) return;
  if (task->demoted) space_from(*task, fact.at, fact.at);
  task->busy = task->demoted = task->suspended = false;
  if (!task->borrows) return;
  task->granted -= fact.used;
  const bool next_waits = task->can_start() && !task->vacating && task->waiting[0].eligible <= fact.at;
  task->shares = next_waits && task->granted > Duration::zero();
  if (!task->shares) use_up_place(*task, fact.at);
  task->borrows = false;
}

// Ends the use of the place in which the rest of the job ran.
void CoreScheduler::use_up_place(ScheduledTask& task, Time now) noexcept {
  if (std::exchange(task.borrows, false)) space_from(task, now, task.place + task.contract.period);
}

void CoreScheduler::overran(const Overran& fact) noexcept {
  ScheduledTask* task = running(fact.task, fact.job);
  if (task == nullptr || task->demoted) return;
  task->granted = fact.used + task->contract.budget;  // a job below the others may have used more than it was granted
  watched_.spend(task->running);
  overrun(*task, fact.at);
}

// Counts the overrun once per job, whatever the job exceeds first, and how often.
void CoreScheduler::overrun(ScheduledTask& task, Time now) noexcept {
  if (!std::exchange(task.overran, true)) ++task.overruns;
  if (task.demoted || !lowers(task)) return;
  use_up_place(task, now);
  task.demoted = true;
  if (task.contract.on_overrun == OverrunPolicy::cancel) return commands_.push_back(Cancel{task.running, task.id});
  commands_.push_back(Demote{task.running, task.id});
}

// Returns whether a job of the task runs below the others after it has exceeded its contract.
bool CoreScheduler::lowers(const ScheduledTask& task) const noexcept {
  return is_enforced(task.contract, charges_overruns_);
}

void CoreScheduler::suspend(const Suspended& fact) noexcept {
  ScheduledTask* task = running(fact.task, fact.job);
  if (task == nullptr || task->suspended) return;
  task->suspended = true;
  task->suspended_at = fact.at;
  if (task->slept >= task->contract.suspension) overrun(*task, fact.at);  // S is used up
}

void CoreScheduler::resume(const Resumed& fact) noexcept {
  ScheduledTask* task = running(fact.task, fact.job);
  if (task == nullptr || !task->suspended) return;
  task->suspended = false;
  task->slept += fact.at - task->suspended_at;
  task->order = ++last_order_;
  if (task->slept > task->contract.suspension) overrun(*task, fact.at);
}

std::span<const Command> CoreScheduler::vacate(Time now, TaskId task) noexcept {
  commands_.clear();
  if (ScheduledTask* found = find(task); found != nullptr && !found->held) found->vacating = true;
  return settle(now);
}

std::span<const Command> CoreScheduler::dismiss(Time now, TaskId task) noexcept {
  commands_.clear();
  if (ScheduledTask* found = find(task)) {
    for (std::size_t i = 0; i < found->waiting_count; ++i) commands_.push_back(Cancel{found->waiting[i].job, task});
    found->waiting_count = 0;
    found->leaving = true;
    found->vacating = true;
  }
  return settle(now);
}

ScheduledTask CoreScheduler::take(TaskId task) noexcept {
  const ScheduledTask* found = find(task);
  if (found == nullptr) return {};
  const ScheduledTask taken = *found;
  erase(found);
  return taken;
}

// On this core the job that continues counts as released now. If there is none, this is true for the first waiting job.
std::span<const Command> CoreScheduler::put(Time now, const ScheduledTask& task) noexcept {
  commands_.clear();
  ScheduledTask arriving = task;
  arriving.held = false;
  arriving.vacating = arriving.leaving;
  arriving.borrows = arriving.shares = false;
  arriving.order = ++last_order_;
  if (arriving.started) space_from(arriving, now, arriving.pending() ? now + arriving.contract.period : now);
  insert(arriving);
  return settle(now);
}

// Updates after a change.

bool CoreScheduler::idle(Time now) const noexcept {
  return std::none_of(tasks_.begin(), tasks_.end(), [&](const ScheduledTask& task) {
    return task.pending() || (task.can_start() && task.waiting[0].eligible < now);
  });
}

// Updates the core scheduler after every change. At an idle instant, departing tasks leave before any job starts,
// because a job that becomes eligible at that instant belongs to the next busy period.
std::span<const Command> CoreScheduler::settle(Time at) noexcept {
  const Time now = latest_ = std::max(latest_, at);
  end_long_sleeps(now);
  const bool idle_instant = idle(now);
  if (idle_instant) report_vacated();
  if (idle_instant) let_join(now);
  let_return(now);
  start_jobs(now, idle_instant && early_allowed_);
  arm(now);
  watch();
  return commands_;
}

void CoreScheduler::end_long_sleeps(Time now) noexcept {
  for (ScheduledTask& task : tasks_)
    if (task.pending() && task.suspended && task.sleeps_until() < now) overrun(task, now);
}

// Lets jobs return whose rest waits for the place of the next job and may run there now. A sleeping job has no use for
// the place.
void CoreScheduler::let_return(Time now) noexcept {
  for (ScheduledTask& task : tasks_) {
    if (!task.postponed() || task.suspended || task.next_place() > now) continue;
    space_from(task, now, now);
    task.place = task.waiting_count > 0 ? task.waiting[0].nominal : task.tat;
    task.borrows = true;
    task.demoted = false;
    task.slept = {};
    task.order = ++last_order_;
    commands_.push_back(Run{task.running, task.id, task.priority, now, now + task.contract.deadline});
  }
}

void CoreScheduler::start_jobs(Time now, bool early_too) noexcept {
  for (ScheduledTask& task : tasks_) {
    if (!task.can_start()) continue;
    if (task.waiting[0].eligible > now) {
      if (!early_too) continue;
      task.waiting[0].released = now;
      if (task.waiting_count == 1)
        task.tat = now + task.contract.period;  // more jobs wait only if they are spaced, and then they are not due
    }
    start(task);
  }
}

void CoreScheduler::start(ScheduledTask& task) noexcept {
  const WaitingJob next = task.waiting[0];
  std::copy(task.waiting.begin() + 1, task.waiting.begin() + static_cast<std::ptrdiff_t>(task.waiting_count),
            task.waiting.begin());
  --task.waiting_count;
  task.busy = true;
  task.running = next.job;
  task.demoted = task.overran = task.suspended = false;
  if (!std::exchange(task.shares, false)) {
    task.granted = task.contract.budget;
    task.slept = {};
  }
  task.order = ++last_order_;
  ++task.jobs;
  commands_.push_back(Run{next.job, task.id, task.priority, next.released, next.released + task.contract.deadline});
}

// Returns whether a demoted job may hold a lock. Call it at an idle instant.
bool CoreScheduler::may_hold_lock() const noexcept {
  return std::any_of(tasks_.begin(), tasks_.end(),
                     [](const ScheduledTask& task) { return task.demoted && uses_resources(task.contract); });
}

void CoreScheduler::let_join(Time now) noexcept {
  const bool any = std::any_of(tasks_.begin(), tasks_.end(), [](const ScheduledTask& task) { return task.joining; });
  if (!any || may_hold_lock()) return;
  for (ScheduledTask& task : tasks_) {
    if (!task.joining) continue;
    task.joining = false;
    if (task.started) space_from(task, now, now);
    for (std::size_t i = 0; i < task.waiting_count; ++i) task.waiting[i].released = task.waiting[i].eligible;
    commands_.push_back(Joined{task.id, core_});
  }
}

void CoreScheduler::report_vacated() noexcept {
  bool any = false;
  for (ScheduledTask& task : tasks_) {
    if (!task.vacating || task.busy) continue;
    task.vacating = false;
    any = task.held = true;
    commands_.push_back(ReportVacated{task.id, core_});
  }
  if (any) std::erase_if(tasks_, [](const ScheduledTask& task) { return task.leaving && task.held; });
}

void CoreScheduler::arm(Time now) noexcept {
  Time next = never;
  for (const ScheduledTask& task : tasks_) {
    if (task.can_start()) next = std::min(next, task.waiting[0].eligible);
    if (task.postponed() && !task.suspended) next = std::min(next, task.next_place());
    const bool may_oversleep = task.pending() && task.suspended && (!task.overran || lowers(task));
    if (may_oversleep) next = std::min(next, task.sleeps_until() + Duration{1});
  }
  assert(next > now);
  static_cast<void>(now);
  if (next == armed_) return;
  armed_ = next;
  commands_.push_back(Arm{timer_, next});
}

// Appends a Watch for the job that the platform runs, if the end of its budget has to be reported.
void CoreScheduler::watch() noexcept {
  const ScheduledTask* top = nullptr;
  for (const ScheduledTask& task : tasks_) {
    if (!task.pending() || task.suspended) continue;
    if (top == nullptr || top->priority < task.priority || (top->priority == task.priority && task.order < top->order))
      top = &task;
  }
  const bool matters = top != nullptr && lowers(*top);
  const Watch wanted = matters ? Watch{top->running, top->id, top->granted} : Watch{};
  if (watched_.note(wanted)) commands_.push_back(wanted);
}

void CoreScheduler::refuse(JobId job, RefusalCode code) noexcept { commands_.push_back(Refuse{job, {.code = code}}); }

}  // namespace corelane::sched
