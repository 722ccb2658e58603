// CustomPolicies are an allocation and an admission test that a program brings with it, such as functions in Python.
// They work in plans and in virtual time. Each core runs its tasks by fixed priorities, or the earliest deadline first
// if policy.test of the scenario is a test for that. Corelane does not check such a test. A set that it admits may miss
// deadlines. No task moves to make room for another one, whatever policy.repack says.
//
// Threads: the thread that plans or runs the set calls the functions, one at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "orb/base/ids.h"
#include "orb/eval/task_set.h"

namespace corelane::eval {

// The sentence that belongs beside figures of CustomPolicies, unless policy.repack = false. It has no full stop.
inline constexpr std::string_view unmoved_note =
    "policies that are functions move no task, but built-in policies pack all tasks anew, the largest first, if a new "
    "task fits on no core; write policy.repack = false to compare them with functions";

// A core that a task may be placed on.
struct CandidateCore {
  CoreId id = no_core;
  std::vector<Task> tasks{};  // that it has, in the order in which they were placed
  bool fits = false;          // whether the admission test admits the task beside them
};

struct CustomPolicies {
  // Returns the index of the core for the task; nothing: it is refused. A core on which the task does not fit refuses
  // it, too. Empty: the cores are tried in the order of the scenario's allocation.
  std::function<std::optional<std::size_t>(std::span<const CandidateCore> cores, const Task& task)> allocation{};
  // Returns whether a core is to run these tasks. The last one is the task that asks. Empty: the scenario's test.
  std::function<bool(std::span<const Task> tasks)> test{};
};

}  // namespace corelane::eval
