// AnyScheduler is the core scheduler of one core: a CoreScheduler if the core is scheduled by priorities, an
// EdfScheduler if it is scheduled by deadlines.
//
// Threads: as CoreScheduler.
#pragma once

#include <span>
#include <variant>

#include "orb/sched/schedulers/core_scheduler.h"
#include "orb/sched/schedulers/edf_scheduler.h"

namespace corelane::sched {

class AnyScheduler {
 public:
  AnyScheduler(CoreId core, std::size_t max_tasks, TimerId timer)
      : max_tasks_(max_tasks), timer_(timer), scheduler_(std::in_place_type<CoreScheduler>, core, max_tasks, timer) {}

  // Makes the core run by deadlines. Call it before the first task is added.
  void use_deadlines() { scheduler_.emplace<EdfScheduler>(core(), max_tasks_, timer_); }
  bool uses_deadlines() const { return std::holds_alternative<EdfScheduler>(scheduler_); }

  // These members do what the members of CoreScheduler with the same names do. A core that runs by deadlines always
  // charges overruns.
  void charge_overruns() {
    if (CoreScheduler* scheduler = std::get_if<CoreScheduler>(&scheduler_)) scheduler->charge_overruns();
  }
  void allow_early(bool allowed) {
    std::visit([&](auto& scheduler) { scheduler.allow_early(allowed); }, scheduler_);
  }
  bool add(TaskId task, const Contract& contract, Priority priority) {
    return std::visit([&](auto& scheduler) { return scheduler.add(task, contract, priority); }, scheduler_);
  }
  std::span<const Command> join(Time now, TaskId task, const Contract& contract, Priority priority) {
    return std::visit([&](auto& scheduler) { return scheduler.join(now, task, contract, priority); }, scheduler_);
  }
  bool reprioritize(TaskId task, Priority priority) {
    return std::visit([&](auto& scheduler) { return scheduler.reprioritize(task, priority); }, scheduler_);
  }
  std::span<const Command> decide(const Fact& fact) {
    return std::visit([&](auto& scheduler) { return scheduler.decide(fact); }, scheduler_);
  }
  std::span<const Command> vacate(Time now, TaskId task) {
    return std::visit([&](auto& scheduler) { return scheduler.vacate(now, task); }, scheduler_);
  }
  std::span<const Command> dismiss(Time now, TaskId task) {
    return std::visit([&](auto& scheduler) { return scheduler.dismiss(now, task); }, scheduler_);
  }
  ScheduledTask take(TaskId task) {
    return std::visit([&](auto& scheduler) { return scheduler.take(task); }, scheduler_);
  }
  std::span<const Command> put(Time now, const ScheduledTask& task) {
    return std::visit([&](auto& scheduler) { return scheduler.put(now, task); }, scheduler_);
  }
  CoreId core() const {
    return std::visit([](const auto& scheduler) { return scheduler.core(); }, scheduler_);
  }
  // Returns whether a job that ends after `used` of execution has exceeded its budget and no Overran has reported it.
  bool has_overrun(TaskId task, JobId job, Duration used) const {
    return used > std::visit([&](const auto& scheduler) { return scheduler.granted(task, job); }, scheduler_);
  }
  bool idle(Time now) const {
    return std::visit([&](const auto& scheduler) { return scheduler.idle(now); }, scheduler_);
  }
  std::span<const ScheduledTask> tasks() const {
    return std::visit([](const auto& scheduler) { return scheduler.tasks(); }, scheduler_);
  }

 private:
  std::size_t max_tasks_;
  TimerId timer_;
  std::variant<CoreScheduler, EdfScheduler> scheduler_;
};

}  // namespace corelane::sched
