#include "orb/sched/schedulers/deadline_levels.h"

#include <algorithm>

#include "orb/sched/priority.h"

namespace corelane::sched {

DeadlineLevels::DeadlineLevels(std::size_t max_tasks, int levels) : count_(levels) {
  jobs_.reserve(max_tasks);
  levels_.reserve(max_tasks);
  changes_.reserve(2 * max_tasks);
}

std::span<const DeadlineLevels::Change> DeadlineLevels::place(TaskId task, JobId job, Time at) noexcept {
  const auto known = std::find_if(jobs_.begin(), jobs_.end(), [&](const Entry& e) { return e.task == task; });
  if (known != jobs_.end() && known->job == job && known->place == at) return {};
  const int told = known != jobs_.end() ? known->told : 0;
  if (known != jobs_.end()) jobs_.erase(known);
  const auto after = std::find_if(jobs_.begin(), jobs_.end(),
                                  [&](const Entry& e) { return at != e.place ? at < e.place : job < e.job; });
  jobs_.insert(after, {task, job, at, 0, told});
  levels_.clear();
  for (const Entry& entry : jobs_) levels_.push_back(entry.level);
  assign_levels(levels_, count_);
  for (std::size_t i = 0; i < jobs_.size(); ++i) jobs_[i].level = levels_[i];
  return changes();
}

void DeadlineLevels::remove(TaskId task) noexcept {
  std::erase_if(jobs_, [&](const Entry& e) { return e.task == task; });
}

// Raises levels from the top down, then lowers them from the bottom up.
std::span<const DeadlineLevels::Change> DeadlineLevels::changes() noexcept {
  changes_.clear();
  const auto tell = [&](Entry& entry) {
    entry.told = entry.level;
    changes_.push_back({entry.task, Priority{entry.level}});
  };
  for (Entry& entry : jobs_)
    if (entry.level > entry.told) tell(entry);
  for (std::size_t i = jobs_.size(); i > 0; --i)
    if (jobs_[i - 1].level < jobs_[i - 1].told) tell(jobs_[i - 1]);
  return changes_;
}

}  // namespace corelane::sched
