// TaskTable has what the engine knows of each task: its parts, its unfinished jobs, and what became of the finished
// ones.
//
// Threads: one. Only the constructor allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "orb/base/time.h"
#include "orb/sim/job_source.h"
#include "orb/sim/multicore/job_pool.h"
#include "orb/sim/multicore_simulator.h"

namespace corelane::sim::multicore {

// Where and how urgently a part of a task runs. A task that is not split has one part.
struct Part {
  std::uint32_t cluster = 0;
  std::int64_t rank = 0;  // the negative priority
  Duration budget{};      // the next part follows after it; does not matter for the last part
  Duration offset{};
  Duration deadline{};  // from the nominal release
};

struct TaskState {
  Duration deadline{};
  std::uint32_t first_part = 0;  // index
  std::uint32_t parts = 1;
  std::uint32_t core = 0;   // where its latest job ran
  JobIndex first = no_job;  // its unfinished jobs, in the order of their releases; the first one may run
  JobIndex last = no_job;
  std::uint64_t arrived = 0;
  JobRelease next{};          // the next job, which has not arrived; valid while the task is in the queue of releases
  TaskResponses responses{};  // of the finished jobs; `unfinished` is not counted
  bool is_load = false;       // its jobs have no overheads
};

class TaskTable {
 public:
  TaskTable(const MulticoreOptions& options, std::span<const MulticoreTask> tasks);

  std::size_t size() const { return tasks_.size(); }
  TaskState& operator[](std::size_t task) { return tasks_[task]; }
  const TaskState& operator[](std::size_t task) const { return tasks_[task]; }

  const Part& part(const Job& job) const { return parts_[tasks_[job.task].first_part + job.part]; }
  bool is_last_part(const Job& job) const { return job.part + 1 == tasks_[job.task].parts; }

  // Appends an arrived job to the unfinished ones of its task. Returns whether it is the first one.
  bool append(JobPool& jobs, JobIndex job);
  // Removes the first job of a task. Returns the new first one, or no_job.
  JobIndex remove_first(JobPool& jobs, std::size_t task);

  // Counts a finished job.
  void count(const Job& job, Time finish);
  // Returns what became of all jobs of a task by `now`.
  TaskResponses responses(const JobPool& jobs, std::size_t task, Time now) const;

 private:
  std::vector<Part> parts_;  // of the first task, of the second one, ...
  std::vector<TaskState> tasks_;
};

}  // namespace corelane::sim::multicore
