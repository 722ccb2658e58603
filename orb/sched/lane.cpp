#include "orb/sched/lane.h"

#include <algorithm>
#include <cassert>

namespace corelane::sched {

Lane::Lane(CoreId core, std::size_t max_tasks, TimerId timer) : core_(core), timer_(timer) {
  tasks_.reserve(max_tasks);
  commands_.reserve(3 * max_tasks + 4 * max_waiting);
}

LaneTask* Lane::find(TaskId task) noexcept {
  const auto found = std::find_if(tasks_.begin(), tasks_.end(), [&](const LaneTask& t) { return t.id == task; });
  return found == tasks_.end() ? nullptr : &*found;
}

bool Lane::insert(const LaneTask& task) noexcept {
  if (tasks_.size() == tasks_.capacity() || find(task.id) != nullptr) return false;
  const auto place =
      std::find_if(tasks_.begin(), tasks_.end(), [&](const LaneTask& other) { return other.priority < task.priority; });
  tasks_.insert(place, task);
  return true;
}

void Lane::erase(const LaneTask* task) noexcept { tasks_.erase(tasks_.begin() + (task - tasks_.data())); }

bool Lane::add(TaskId task, const Contract& contract, Priority priority) noexcept {
  return insert({.id = task, .contract = contract, .priority = priority});
}

void Lane::reprioritize(TaskId task, Priority priority) noexcept {
  const LaneTask* found = find(task);
  if (found == nullptr) return;
  LaneTask changed = *found;
  changed.priority = priority;
  erase(found);
  insert(changed);
}

std::span<const Command> Lane::decide(const Fact& fact) noexcept {
  commands_.clear();
  if (const auto* arrived = std::get_if<Arrived>(&fact)) arrive(*arrived);
  if (const auto* finished = std::get_if<Finished>(&fact)) finish(*finished);
  if (const auto* overran = std::get_if<Overran>(&fact)) overrun(*overran);
  if (const auto* elapsed = std::get_if<Elapsed>(&fact); elapsed != nullptr && elapsed->timer == timer_) armed_ = never;
  return settle(time_of(fact));
}

void Lane::arrive(const Arrived& fact) noexcept {
  LaneTask* task = find(fact.task);
  if (task == nullptr || task->leaving) return refuse(fact.job, RefusalCode::unknown_task);
  const Contract& contract = task->contract;
  const Time nominal = task->started ? std::max(fact.at, task->tat) : fact.at;
  const Time eligible = std::max(fact.at, nominal - contract.jitter);
  const bool one_waits = task->waiting_count > 0 && task->waiting[task->waiting_count - 1].eligible > fact.at;
  if (one_waits || task->waiting_count == max_waiting) return refuse(fact.job, RefusalCode::job_waiting);
  task->waiting[task->waiting_count++] = {fact.job, eligible};
  task->started = true;
  task->tat = nominal + contract.period;
  if (eligible <= fact.at) return;
  ++task->deferred;
  commands_.push_back(Defer{fact.job, task->id, eligible});
}

void Lane::finish(const Finished& fact) noexcept {
  LaneTask* task = find(fact.task);
  if (task != nullptr && task->busy && task->running == fact.job) task->busy = false;
}

void Lane::overrun(const Overran& fact) noexcept {
  LaneTask* task = find(fact.task);
  if (task == nullptr || !task->busy || task->running != fact.job) return;
  ++task->overruns;
  if (task->contract.on_overrun == OverrunPolicy::demote) commands_.push_back(Demote{fact.job, fact.task});
  if (task->contract.on_overrun == OverrunPolicy::cancel) commands_.push_back(Cancel{fact.job, fact.task});
}

std::span<const Command> Lane::vacate(Time now, TaskId task) noexcept {
  commands_.clear();
  if (LaneTask* found = find(task); found != nullptr && !found->held) found->vacating = true;
  return settle(now);
}

std::span<const Command> Lane::dismiss(Time now, TaskId task) noexcept {
  commands_.clear();
  if (LaneTask* found = find(task)) {
    for (std::size_t i = 0; i < found->waiting_count; ++i) commands_.push_back(Cancel{found->waiting[i].job, task});
    found->waiting_count = 0;
    found->leaving = true;
    found->vacating = true;
  }
  return settle(now);
}

LaneTask Lane::take(TaskId task) noexcept {
  const LaneTask* found = find(task);
  if (found == nullptr) return {};
  const LaneTask taken = *found;
  erase(found);
  return taken;
}

std::span<const Command> Lane::put(Time now, const LaneTask& task) noexcept {
  commands_.clear();
  LaneTask arriving = task;
  arriving.held = false;
  arriving.vacating = arriving.leaving;
  insert(arriving);
  return settle(now);
}

bool Lane::idle(Time now) const noexcept {
  return std::none_of(tasks_.begin(), tasks_.end(), [&](const LaneTask& task) {
    return task.busy || (!task.held && task.waiting_count > 0 && task.waiting[0].eligible <= now);
  });
}

// What follows from any change: who can start starts, and at an idle instant those go who are to go.
std::span<const Command> Lane::settle(Time now) noexcept {
  start_ready(now);
  if (idle(now)) report_vacated();
  arm(now);
  return commands_;
}

void Lane::start_ready(Time now) noexcept {
  for (LaneTask& task : tasks_) {
    if (task.busy || task.held || task.waiting_count == 0 || task.waiting[0].eligible > now) continue;
    const WaitingJob next = task.waiting[0];
    std::copy(task.waiting.begin() + 1, task.waiting.begin() + static_cast<std::ptrdiff_t>(task.waiting_count),
              task.waiting.begin());
    --task.waiting_count;
    task.busy = true;
    task.running = next.job;
    ++task.jobs;
    commands_.push_back(Run{next.job, task.id, task.priority, next.eligible, next.eligible + task.contract.deadline});
  }
}

void Lane::report_vacated() noexcept {
  for (LaneTask& task : tasks_) {
    if (!task.vacating) continue;
    task.vacating = false;
    task.held = true;
    commands_.push_back(ReportVacated{task.id, core_});
  }
  std::erase_if(tasks_, [](const LaneTask& task) { return task.leaving && task.held; });
}

void Lane::arm(Time now) noexcept {
  Time next = never;
  for (const LaneTask& task : tasks_)
    if (!task.busy && !task.held && task.waiting_count > 0) next = std::min(next, task.waiting[0].eligible);
  assert(next > now);
  static_cast<void>(now);
  if (next == armed_) return;
  armed_ = next;
  commands_.push_back(Arm{timer_, next});
}

void Lane::refuse(JobId job, RefusalCode code) noexcept { commands_.push_back(Refuse{job, {.code = code}}); }

}  // namespace corelane::sched
