// JobSequence returns the jobs of a task one after the other: when each is released, and how long it executes. The same
// seed gives the same jobs on every machine.
//
// Threads: owned by one thread at a time. next() does not allocate.
#pragma once

#include <cstddef>
#include <cstdint>

#include "orb/base/time.h"
#include "orb/eval/scenario.h"
#include "orb/eval/task_set.h"

namespace corelane::eval {

struct TimedJob {
  Duration release{};    // the nominal one, from the start of the experiment
  Duration execution{};  // what the job executes for, at least 1 ns
};

class JobSequence {
 public:
  // `task` must outlive the sequence.
  JobSequence(const Task& task, std::uint64_t seed);

  // Returns the next job. The first one is released at the task's offset.
  TimedJob next() noexcept;

 private:
  Duration gap() noexcept;
  Duration execution() noexcept;

  const Task* task_;
  std::uint64_t random_;
  Duration shortest_{}, longest_{};  // execution times
  Duration release_{};               // of the next job
  std::int64_t number_ = 0;          // of the next job
};

// Returns the seed of a task's jobs. `task`: the index in the tasks of the set; see tasks_of().
std::uint64_t job_seed(const Scenario& scenario, std::int64_t set, std::size_t task);

}  // namespace corelane::eval
