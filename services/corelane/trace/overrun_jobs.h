// OverrunJobs determines which jobs of a recorded run used more than their budget. A job that is found blocked is
// handled and recorded like an overrun, with what it had used until then. On a core that schedules by deadlines, a job
// may overrun each budget that it gets, but counts once.
//
// Threads: pure. Allocates.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/sched/trace/trace_kinds.h"

namespace corelane::tool {

class OverrunJobs {
 public:
  // Notes the task's budget. If it is not known, because the trace begins later, jobs count as they were recorded.
  void note_budget(TaskId task, Duration budget) { tasks_[task].budget = budget; }
  void note(const sched::Overran& overran) {
    Task& task = tasks_[overran.task];
    if (overran.used >= task.budget) task.overran.insert(overran.job);
  }
  void note(const sched::Finished& finished) {
    Task& task = tasks_[finished.task];
    if (task.budget >= Duration::zero() && finished.used > task.budget) task.overran.insert(finished.job);
  }

  std::size_t count(TaskId task) const {
    const auto found = tasks_.find(task);
    return found == tasks_.end() ? 0 : found->second.overran.size();
  }
  bool has(TaskId task, JobId job) const {
    const auto found = tasks_.find(task);
    return found != tasks_.end() && found->second.overran.contains(job);
  }
  // Returns the tasks that have such jobs.
  std::vector<TaskId> tasks() const {
    std::vector<TaskId> result;
    for (const auto& [id, task] : tasks_)
      if (!task.overran.empty()) result.push_back(id);
    return result;
  }

 private:
  struct Task {
    Duration budget{-1};  // negative: not known
    std::set<JobId> overran{};
  };
  std::map<TaskId, Task> tasks_;
};

}  // namespace corelane::tool
