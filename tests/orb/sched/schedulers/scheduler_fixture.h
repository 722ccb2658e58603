// Fixture of the CoreScheduler's tests: one function for each fact, which returns the commands.
#pragma once

#include <catch2/catch.hpp>
#include <vector>

#include "orb/sched/schedulers/core_scheduler.h"
#include "tests/orb/sched/only.h"

namespace corelane::sched::testing {

inline constexpr CoreId scheduler_core{3};
inline constexpr TimerId timer{9};
constexpr Time at(Duration since_start) { return Time{since_start}; }

class SchedulerBench {
 public:
  CoreScheduler scheduler{scheduler_core, 8, timer};

  void add(std::uint64_t task, Contract contract, int priority) {
    REQUIRE(scheduler.add(TaskId{task}, contract, Priority{priority}));
  }
  std::vector<Command> arrive(Duration when, std::uint64_t task, std::uint64_t job) {
    return copy(scheduler.decide(Arrived{at(when), JobId{job}, TaskId{task}, PeerId{}, std::nullopt}));
  }
  std::vector<Command> finish(Duration when, std::uint64_t task, std::uint64_t job, Duration used = {}) {
    return copy(scheduler.decide(Finished{at(when), JobId{job}, TaskId{task}, used}));
  }
  std::vector<Command> overrun(Duration when, std::uint64_t task, std::uint64_t job,
                               Duration used = std::chrono::milliseconds{1}) {
    return copy(scheduler.decide(Overran{at(when), JobId{job}, TaskId{task}, used}));
  }
  std::vector<Command> suspend(Duration when, std::uint64_t task, std::uint64_t job) {
    return copy(scheduler.decide(Suspended{at(when), JobId{job}, TaskId{task}}));
  }
  std::vector<Command> resume(Duration when, std::uint64_t task, std::uint64_t job) {
    return copy(scheduler.decide(Resumed{at(when), JobId{job}, TaskId{task}}));
  }
  std::vector<Command> elapse(Duration when) { return copy(scheduler.decide(Elapsed{at(when), timer})); }
  static std::vector<Command> copy(std::span<const Command> commands) { return {commands.begin(), commands.end()}; }
};

inline constexpr Contract ten_ms{.period = std::chrono::milliseconds{10},
                                 .deadline = std::chrono::milliseconds{8},
                                 .budget = std::chrono::milliseconds{1},
                                 .jitter = std::chrono::milliseconds{2}};

}  // namespace corelane::sched::testing
