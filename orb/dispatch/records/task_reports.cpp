#include "orb/dispatch/records/task_reports.h"

#include <algorithm>
#include <utility>

namespace corelane::dispatch {

void copy_counters(TaskReport& report, const TaskWorker& worker) {
  worker.statistics().copy_to(report);
  report.dedicated_connection = worker.has_dedicated_connection();
}

TaskReports::TaskReports(std::size_t max_tasks) {
  tasks_.reserve(max_tasks + TaskHistory::remembered);
  workers_.reserve(max_tasks);
  labels_.reserve(max_tasks);
  left_.reserve(TaskHistory::remembered);
}

void TaskReports::add(const TaskRecord& record, std::uint64_t early) {
  tasks_.push_back(record.report);
  tasks_.back().early = early;
  workers_.push_back(record.worker);
  labels_.push_back(record.label);
}

void TaskReports::add(const TaskHistory& history) {
  history.for_each([this](const auto& report) { left_.push_back(report); });
}

void TaskReports::finish(ExecutiveReport& report) {
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    tasks_[i].label = *labels_[i];
    copy_counters(tasks_[i], *workers_[i]);
    report.jobs_refused += tasks_[i].refused;
  }
  std::ranges::sort(tasks_, {}, &TaskReport::task);
  for (const auto& left : left_) tasks_.push_back(*left);
  report.tasks = std::move(tasks_);
}

}  // namespace corelane::dispatch
