// DeadlineLevels implements earliest deadline first on a platform that has only priorities. Each job that runs, or
// whose thread waits for its time, has a level. An earlier deadline (its `place`) gives a higher level. If a new job
// finds no free level between the two jobs next to it, all levels are assigned again. The rule is the one for tasks
// under fixed priorities (assign_levels()).
//
// While there are at most as many such jobs as levels, the platform runs the same job that earliest deadline first
// would run. The platform must have preemptive fixed priorities.
//
// Threads: owned by one thread at a time. Nothing allocates after the constructor. Bound: the number of tasks.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace corelane::sched {

class DeadlineLevels {
 public:
  // At most `max_tasks` jobs have a place, one job of each task. The levels are 1 .. `levels`.
  DeadlineLevels(std::size_t max_tasks, int levels);

  struct Change {
    TaskId task;
    Priority level;
  };
  // Sets the place of a job that runs or waits for its time. Between jobs with the same place, the older one runs
  // first. Returns the changes of levels, in an order in which no job is ever above a job that runs before it. The
  // result is valid until the next call.
  std::span<const Change> place(TaskId task, JobId job, Time at) noexcept;
  // Removes the job of the task: it has ended or is no longer scheduled here. No other level changes.
  void remove(TaskId task) noexcept;

 private:
  struct Entry {
    TaskId task;
    JobId job;
    Time place;
    int level;  // 0: not assigned yet
    int told;   // the level that the platform has
  };

  std::span<const Change> changes() noexcept;

  const int count_;
  std::vector<Entry> jobs_;  // sorted by place
  std::vector<int> levels_;  // scratch
  std::vector<Change> changes_;
};

}  // namespace corelane::sched
