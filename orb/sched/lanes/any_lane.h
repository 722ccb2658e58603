// AnyLane is the lane of one core: a Lane if the core is scheduled by priorities, an EdfLane if it is scheduled by
// deadlines.
//
// Threads: as Lane.
#pragma once

#include <span>
#include <variant>

#include "orb/sched/lanes/edf_lane.h"
#include "orb/sched/lanes/lane.h"

namespace corelane::sched {

class AnyLane {
 public:
  AnyLane(CoreId core, std::size_t max_tasks, TimerId timer)
      : max_tasks_(max_tasks), timer_(timer), lane_(std::in_place_type<Lane>, core, max_tasks, timer) {}

  // Makes the core run by deadlines. Call it before the first task is added.
  void use_deadlines() { lane_.emplace<EdfLane>(core(), max_tasks_, timer_); }
  bool uses_deadlines() const { return std::holds_alternative<EdfLane>(lane_); }

  // These members do what the members of Lane with the same names do. A core that runs by deadlines always charges
  // overruns.
  void charge_overruns() {
    if (Lane* lane = std::get_if<Lane>(&lane_)) lane->charge_overruns();
  }
  void allow_early(bool allowed) {
    std::visit([&](auto& lane) { lane.allow_early(allowed); }, lane_);
  }
  bool add(TaskId task, const Contract& contract, Priority priority) {
    return std::visit([&](auto& lane) { return lane.add(task, contract, priority); }, lane_);
  }
  std::span<const Command> join(Time now, TaskId task, const Contract& contract, Priority priority) {
    return std::visit([&](auto& lane) { return lane.join(now, task, contract, priority); }, lane_);
  }
  bool reprioritize(TaskId task, Priority priority) {
    return std::visit([&](auto& lane) { return lane.reprioritize(task, priority); }, lane_);
  }
  std::span<const Command> decide(const Fact& fact) {
    return std::visit([&](auto& lane) { return lane.decide(fact); }, lane_);
  }
  std::span<const Command> vacate(Time now, TaskId task) {
    return std::visit([&](auto& lane) { return lane.vacate(now, task); }, lane_);
  }
  std::span<const Command> dismiss(Time now, TaskId task) {
    return std::visit([&](auto& lane) { return lane.dismiss(now, task); }, lane_);
  }
  LaneTask take(TaskId task) {
    return std::visit([&](auto& lane) { return lane.take(task); }, lane_);
  }
  std::span<const Command> put(Time now, const LaneTask& task) {
    return std::visit([&](auto& lane) { return lane.put(now, task); }, lane_);
  }
  CoreId core() const {
    return std::visit([](const auto& lane) { return lane.core(); }, lane_);
  }
  // Returns whether a job that ends after `used` of execution has exceeded its budget and no Overran has reported it.
  bool has_overrun(TaskId task, JobId job, Duration used) const {
    return used > std::visit([&](const auto& lane) { return lane.granted(task, job); }, lane_);
  }
  bool idle(Time now) const {
    return std::visit([&](const auto& lane) { return lane.idle(now); }, lane_);
  }
  std::span<const LaneTask> tasks() const {
    return std::visit([](const auto& lane) { return lane.tasks(); }, lane_);
  }

 private:
  std::size_t max_tasks_;
  TimerId timer_;
  std::variant<Lane, EdfLane> lane_;
};

}  // namespace corelane::sched
