#include "orb/sched/schedulers/edf_scheduler.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace corelane::sched {
namespace {

// Moves the releases of the task's waiting jobs. No job is released before `now`. The first one has the nominal release
// `first` or later, and the others follow at distances of T. The jobs get the deadlines of their new releases.
void respace(ScheduledTask& task, Time now, Time first) noexcept {
  for (WaitingJob& job : std::span(task.waiting).first(task.waiting_count)) {
    job.nominal = std::max(job.nominal, first);
    job.eligible = std::max({job.eligible, now, job.nominal - task.contract.jitter});
    job.released = std::max(job.released, job.eligible);
    first = job.nominal + task.contract.period;
  }
  task.tat = std::max(task.tat, first);
}

}  // namespace

EdfScheduler::EdfScheduler(CoreId core, std::size_t max_tasks, TimerId timer) : scheduler_(core, max_tasks, timer) {
  started_.reserve(max_tasks);
  // At most three calls of the CoreScheduler, and two commands of this class.
  commands_.reserve(12 * (max_tasks + max_waiting) + 2);
}

EdfScheduler::Started* EdfScheduler::find(TaskId task, JobId job) noexcept {
  const auto found = std::find_if(started_.begin(), started_.end(),
                                  [&](const Started& s) { return s.run.task == task && s.run.job == job; });
  return found == started_.end() ? nullptr : &*found;
}

Duration EdfScheduler::granted(TaskId task, JobId job) const noexcept {
  for (const Started& started : started_)
    if (started.run.task == task && started.run.job == job && !started.demoted) return started.granted;
  return Duration::max();
}

const ScheduledTask* EdfScheduler::state_of(TaskId task) const noexcept {
  const auto tasks = scheduler_.tasks();
  const auto found = std::find_if(tasks.begin(), tasks.end(), [&](const ScheduledTask& t) { return t.id == task; });
  return found == tasks.end() ? nullptr : &*found;
}

bool EdfScheduler::add(TaskId task, const Contract& contract, Priority priority) noexcept {
  return scheduler_.add(task, contract, priority);
}

std::span<const Command> EdfScheduler::join(Time now, TaskId task, const Contract& contract,
                                            Priority priority) noexcept {
  commands_.clear();
  forward(scheduler_.join(now, task, contract, priority));
  return settle();
}

bool EdfScheduler::reprioritize(TaskId task, Priority priority) noexcept {
  scheduler_.reprioritize(task, priority);
  return false;
}

std::span<const Command> EdfScheduler::decide(const Fact& fact) noexcept {
  commands_.clear();
  before(fact);
  forward(scheduler_.decide(fact));
  after(fact);
  return settle();
}

// Spaces the jobs that wait behind a demoted job again, from the end of that job on. They get the deadlines of their
// new releases.
void EdfScheduler::before(const Fact& fact) noexcept {
  const auto* finished = std::get_if<Finished>(&fact);
  const Started* job = finished != nullptr ? find(finished->task, finished->job) : nullptr;
  if (job == nullptr) return;
  if (job->demoted) space(finished->at, finished->task, finished->at);
  std::erase_if(started_, [&](const Started& s) { return &s == job; });
}

void EdfScheduler::after(const Fact& fact) noexcept {
  if (const auto* suspended = std::get_if<Suspended>(&fact))
    if (Started* job = find(suspended->task, suspended->job)) job->asleep = true;
  if (const auto* overran = std::get_if<Overran>(&fact)) {
    Started* job = find(overran->task, overran->job);
    if (job == nullptr) return;
    // A job that was found asleep has used less than it was granted. What a job used before it could be stopped is
    // charged to its next place. What it used on another core is not charged there.
    const Duration budget = state_of(overran->task)->contract.budget;
    const Duration charged = std::exchange(job->carried, false) ? overran->used : std::min(overran->used, job->granted);
    job->granted = std::max(job->granted, charged + budget);
    watched_.spend(job->run.job);
    postpone(overran->at, *job);
  }
  if (const auto* resumed = std::get_if<Resumed>(&fact)) {
    Started* job = find(resumed->task, resumed->job);
    if (job == nullptr) return;
    job->asleep = false;
    const ScheduledTask* task = state_of(resumed->task);
    if (task->slept > task->contract.suspension) postpone(resumed->at, *job);
  }
}

// Lets the rest of the job take the place of the task's next job. Does nothing for a demoted job.
void EdfScheduler::postpone(Time now, Started& job) noexcept {
  if (job.demoted) return;
  const ScheduledTask& task = *state_of(job.run.task);
  const Contract contract = task.contract;
  const Time nominal = std::max(now, task.waiting_count > 0 ? task.waiting[0].nominal : task.tat);
  job.run.deadline = std::max(job.run.deadline, std::max(now, nominal - contract.jitter) + contract.deadline);
  commands_.push_back(job.run);
  space(now, job.run.task, nominal + contract.period);
}

void EdfScheduler::space(Time now, TaskId id, Time first) noexcept {
  ScheduledTask task = scheduler_.take(id);
  const bool vacating = task.vacating && !task.leaving;
  respace(task, now, first);
  forward(scheduler_.put(now, task));
  if (vacating) forward(scheduler_.vacate(now, id));
}

void EdfScheduler::forward(std::span<const Command> commands) noexcept {
  for (const Command& command : commands) {
    if (std::holds_alternative<Watch>(command)) continue;  // this class decides by deadline and makes its own Watch
    note(command);
    commands_.push_back(command);
  }
}

void EdfScheduler::note(const Command& command) noexcept {
  if (const auto* run = std::get_if<Run>(&command)) started(*run);
  if (const auto* demote = std::get_if<Demote>(&command))
    if (Started* job = find(demote->task, demote->job)) job->demoted = true;
  if (const auto* cancel = std::get_if<Cancel>(&command))
    if (Started* job = find(cancel->task, cancel->job)) job->demoted = true;
}

void EdfScheduler::started(const Run& run) noexcept {
  const Contract& contract = state_of(run.task)->contract;
  started_.push_back({.run = run, .jitter = contract.jitter, .granted = contract.budget});
}

std::span<const Command> EdfScheduler::vacate(Time now, TaskId task) noexcept {
  commands_.clear();
  forward(scheduler_.vacate(now, task));
  return settle();
}

std::span<const Command> EdfScheduler::dismiss(Time now, TaskId task) noexcept {
  commands_.clear();
  forward(scheduler_.dismiss(now, task));
  return settle();
}

ScheduledTask EdfScheduler::take(TaskId task) noexcept {
  std::erase_if(started_, [&](const Started& s) { return s.run.task == task; });
  return scheduler_.take(task);
}

std::span<const Command> EdfScheduler::put(Time now, const ScheduledTask& task) noexcept {
  commands_.clear();
  ScheduledTask arriving = task;
  if (task.postponed()) arriving.demoted = false;
  if (task.started) respace(arriving, now, arriving.pending() ? now + task.contract.period : now);
  forward(scheduler_.put(now, arriving));
  if (task.busy && state_of(task.id) != nullptr) {
    started({.job = task.running,
             .task = task.id,
             .priority = task.priority,
             .released = now,
             .deadline = now + task.contract.deadline});
    started_.back().granted = std::max(task.granted, task.contract.budget);
    started_.back().carried = true;
    started_.back().asleep = task.suspended;
    started_.back().demoted = arriving.demoted;
    if (!arriving.demoted) commands_.push_back(started_.back().run);
  }
  return settle();
}

// Appends a Watch if the platform now runs another job, or the budget to watch has changed.
std::span<const Command> EdfScheduler::settle() noexcept {
  const Started* first = nullptr;
  for (const Started& job : started_) {
    if (job.asleep || job.demoted) continue;
    const bool runs_before = first == nullptr || job.place() < first->place() ||
                             (job.place() == first->place() && job.run.job < first->run.job);
    if (runs_before) first = &job;
  }
  const Watch wanted = first != nullptr ? Watch{first->run.job, first->run.task, first->granted} : Watch{};
  if (watched_.note(wanted)) commands_.push_back(wanted);
  return commands_;
}

}  // namespace corelane::sched
