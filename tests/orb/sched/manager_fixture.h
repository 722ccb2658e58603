// Fixture of the Manager's tests: functions for facts, which return the commands.
#pragma once

#include <catch2/catch.hpp>
#include <vector>

#include "orb/sched/manager.h"
#include "tests/orb/sched/only.h"

namespace corelane::sched::testing {

inline ManagerOptions cores_of(int count) {
  ManagerOptions options;
  for (int i = 0; i < count; ++i) options.cores.push_back({.id = CoreId{static_cast<std::int16_t>(i)}});
  return options;
}

// T = 100 ms, D = T, C = percent ms: harmonic, so that a core fills up to its capacity.
inline Contract share_of_core(int percent, int importance = 0) {
  using namespace std::chrono_literals;
  return {
      .period = 100ms, .deadline = 100ms, .budget = percent * 1ms, .importance = static_cast<std::int16_t>(importance)};
}

class Bench {
 public:
  explicit Bench(const ManagerOptions& options) : manager(options) {}

  std::vector<Command> tell(const Fact& fact) {
    const auto commands = manager.decide(fact);
    return {commands.begin(), commands.end()};
  }
  std::vector<Command> propose(const Contract& contract, PeerId peer = {}) {
    return tell(Proposed{Time{}, JobId{++request_}, peer, contract});
  }
  TaskId admitted(const Contract& contract, PeerId peer = {}) {
    const auto admits = only<Admit>(propose(contract, peer));
    REQUIRE(admits.size() == 1);
    return admits[0].task;
  }
  Refusal refused(const Contract& contract, PeerId peer = {}) {
    const auto refusals = only<Refuse>(propose(contract, peer));
    REQUIRE(refusals.size() == 1);
    return refusals[0].reason;
  }
  std::vector<Command> vacated(TaskId task, CoreId from) { return tell(Vacated{Time{}, task, from}); }
  CoreId core_of(TaskId task) const { return manager.find(task)->core; }

  Manager manager;

 private:
  std::uint64_t request_ = 0;
};

}  // namespace corelane::sched::testing
