// Response times of chains of tasks on several cores with fixed priorities: the end of a job releases a job of the next
// task. The analysis is holistic (Tindell & Clark 1994). The releases of a task vary by the difference between the
// latest and the earliest end of the task before it. This is the task's release jitter, which delays less urgent tasks
// of its core. They may be in other chains, so the jitters are computed again until none of them changes.
//
// With a release guard (Sun & Liu 1996), a job also waits until a period after the release of the job before it. Then
// there is no such jitter, and the longest time from end to end is the sum of the tasks' own response times.
//
// Threads: pure functions. Not for real-time threads (they allocate).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "orb/sched/ticks.h"

namespace corelane::sched {

struct ChainedTask {
  int core = 0;
  int priority = 0;      // a larger one is more urgent; tasks of one priority delay each other
  Ticks longest = 0;     // C > 0
  Ticks shortest = 0;    // the least time that a job executes for, 0 <= shortest <= C
  Ticks period = 1;      // T > 0, the same for all tasks of a chain
  Ticks jitter = 0;      // J >= 0, of a task that none releases
  Ticks blocking = 0;    // B >= 0
  Ticks suspension = 0;  // S >= 0: delays the task itself only
  // Other tasks are delayed as if this task had at least this release jitter. It is for tasks that suspend themselves.
  Ticks least_jitter = 0;
  std::optional<std::size_t> released_by{};  // the task whose end releases it
};

// Times from the nominal release of the chain's first task, except `response`. `endless`: there is no bound.
struct ChainedResponse {
  Ticks earliest = 0;  // of the release
  Ticks jitter = 0;    // the latest release minus the earliest one
  Ticks response = 0;  // the longest time from a release to the end of its job
  Ticks end = 0;       // the latest end
};

struct HolisticLimits {
  Ticks stop_above = endless - 1;  // an end above this counts as endless
  int rounds = 1000;               // in which jitters are computed; beyond that, what is not settled is endless
  int iterations = 100'000;        // for each task in a round
};

// Returns the responses, by task. No task is released by itself, directly or through others.
std::vector<ChainedResponse> holistic_responses(std::span<const ChainedTask> tasks, const HolisticLimits& limits = {});

}  // namespace corelane::sched
