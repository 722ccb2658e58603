// OverrunJobs: which jobs of a recorded run used more than their budget. A job that is found asleep is dealt with as
// one that overran, and recorded as one; when it has ended the record says what it used, and it is none where that was
// within the budget. Under EDF a job may overrun for each budget that it gets, and counts once.
//
// Threads: pure. Allocates.
#pragma once

#include <cstddef>
#include <map>
#include <set>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/sched/trace_kinds.h"

namespace corelane::tool {

class OverrunJobs {
 public:
  // What is not known, since the trace begins later, leaves jobs what they were recorded as.
  void note_budget(TaskId task, Duration budget) { tasks_[task].budget = budget; }
  void note(const sched::Overran& overran) { tasks_[overran.task].overran.insert(overran.job); }
  void note(const sched::trace::Blocked& blocked) { tasks_[blocked.task].slept.insert(blocked.job); }
  void note(const sched::Finished& finished) {
    Task& task = tasks_[finished.task];
    if (task.slept.erase(finished.job) > 0 && finished.used <= task.budget) task.overran.erase(finished.job);
  }

  std::size_t count(TaskId task) const {
    const auto found = tasks_.find(task);
    return found == tasks_.end() ? 0 : found->second.overran.size();
  }

 private:
  struct Task {
    Duration budget{-1};
    std::set<JobId> overran{}, slept{};
  };
  std::map<TaskId, Task> tasks_;
};

}  // namespace corelane::tool
