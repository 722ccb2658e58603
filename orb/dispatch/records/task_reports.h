// TaskReports collects the reports of tasks in two steps: first what needs the manager's lock, without an allocation,
// then the rest without that lock. A thread that allocates under the lock may be preempted there while the manager
// waits. The workers' counters are some thousand loads, so they are not read under the lock either.
//
// Threads: owned by one, which is not real-time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "orb/dispatch/cores/task_worker.h"
#include "orb/dispatch/executive.h"
#include "orb/dispatch/records/task_history.h"
#include "orb/dispatch/records/task_record.h"

namespace corelane::dispatch {

// Copies the worker's counters.
void copy_counters(TaskReport& report, const TaskWorker& worker);

class TaskReports {
 public:
  // Allocates room for so many tasks, and for those that have left.
  explicit TaskReports(std::size_t max_tasks);

  // With the manager's lock. `early`: the task's early jobs.
  void add(const TaskRecord& record, std::uint64_t early);
  void add(const TaskHistory& history);

  // Without the lock. Adds the reports, ordered by task, and after them those of tasks that have left. Adds the
  // workers' refused jobs to the count of refused jobs.
  void finish(ExecutiveReport& report);

 private:
  std::vector<TaskReport> tasks_;
  std::vector<WorkerPtr> workers_;                          // of these tasks
  std::vector<std::shared_ptr<const std::string>> labels_;  // of these tasks
  std::vector<std::shared_ptr<const TaskReport>> left_;
};

}  // namespace corelane::dispatch
