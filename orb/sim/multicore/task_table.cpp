#include "orb/sim/multicore/task_table.h"

#include <algorithm>

namespace corelane::sim::multicore {
namespace {

std::uint32_t cluster_of(const MulticoreOptions& options, CoreId core) {
  return static_cast<std::uint32_t>(core.value / options.cluster);
}

Part only_part(const MulticoreOptions& options, const MulticoreTask& task) {
  return {
      .cluster = cluster_of(options, task.core), .rank = -std::int64_t{task.priority.value}, .deadline = task.deadline};
}

Part part_of(const MulticoreOptions& options, const TaskPart& part) {
  return {.cluster = cluster_of(options, part.core),
          .rank = -std::int64_t{part.priority.value},
          .budget = part.budget,
          .offset = part.offset,
          .deadline = part.deadline};
}

}  // namespace

TaskTable::TaskTable(const MulticoreOptions& options, std::span<const MulticoreTask> tasks) {
  tasks_.reserve(tasks.size());
  parts_.reserve(tasks.size());
  for (const MulticoreTask& task : tasks) {
    TaskState state{.deadline = task.deadline, .first_part = static_cast<std::uint32_t>(parts_.size())};
    if (task.parts.empty()) parts_.push_back(only_part(options, task));
    for (const TaskPart& part : task.parts) parts_.push_back(part_of(options, part));
    state.parts = static_cast<std::uint32_t>(parts_.size()) - state.first_part;
    const auto size = static_cast<std::uint32_t>(options.cluster);
    state.core = parts_[state.first_part].cluster * size + static_cast<std::uint32_t>(tasks_.size()) % size;
    state.is_load = task.is_load;
    tasks_.push_back(state);
  }
}

bool TaskTable::append(JobPool& jobs, JobIndex job) {
  TaskState& task = tasks_[jobs[job].task];
  const bool is_first = task.first == no_job;
  (is_first ? task.first : jobs[task.last].next) = job;
  task.last = job;
  return is_first;
}

JobIndex TaskTable::remove_first(JobPool& jobs, std::size_t task) {
  TaskState& state = tasks_[task];
  const JobIndex removed = state.first;
  state.first = jobs[removed].next;
  if (state.first == no_job) state.last = no_job;
  jobs.give_back(removed);
  return state.first;
}

void TaskTable::count(const Job& job, Time finish) {
  TaskResponses& total = tasks_[job.task].responses;
  const Duration response = finish - job.nominal;
  ++total.jobs;
  if (finish > job.deadline) ++total.misses;
  total.worst = std::max(total.worst, response);
  total.sum += response;
  total.preemptions += job.preemptions;
  total.migrations += job.migrations;
}

TaskResponses TaskTable::responses(const JobPool& jobs, std::size_t task, Time now) const {
  TaskResponses result = tasks_[task].responses;
  for (JobIndex job = tasks_[task].first; job != no_job; job = jobs[job].next) {
    ++result.unfinished;
    if (jobs[job].deadline <= now) ++result.misses;
    result.preemptions += jobs[job].preemptions;
    result.migrations += jobs[job].migrations;
  }
  return result;
}

}  // namespace corelane::sim::multicore
