// DeadlineLevels: earliest deadline first on a platform that has only priorities. Each job that is under way, or whose
// thread waits for its time, has a level, higher the earlier its place; whenever one comes whose place has no room
// between two levels, all are spread anew, by the same rule as tasks under fixed priorities. While there are no more
// such jobs than levels, what a platform of preemptive fixed priorities runs is what earliest deadline first would run.
//
// Threads: owned by one thread at a time. Nothing allocates after the constructor. Bound: the tasks.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace corelane::sched {

class DeadlineLevels {
 public:
  // At most `max_tasks` jobs have a place, one of each task; levels are 1 .. `levels`.
  DeadlineLevels(std::size_t max_tasks, int levels);

  struct Change {
    TaskId task;
    Priority level;
  };
  // A job of the task is under way or waits for its time, and has that place from now on; ties go to the older job.
  // What is to be changed, in an order in which nobody ever stands above a job that runs before him. Valid until the
  // next call.
  std::span<const Change> place(TaskId task, JobId job, Time at) noexcept;
  // Its job has ended, or is nobody's business any more. Nothing else changes.
  void remove(TaskId task) noexcept;

 private:
  struct Entry {
    TaskId task;
    JobId job;
    Time place;
    int level;  // 0: it has none yet
    int told;   // what the platform knows
  };

  std::span<const Change> changes() noexcept;

  const int count_;
  std::vector<Entry> jobs_;  // by place
  std::vector<int> levels_;  // scratch
  std::vector<Change> changes_;
};

}  // namespace corelane::sched
