// The reports of ManagerAgent: about its tasks, about those that left, and about its cores.
#include <algorithm>
#include <mutex>
#include <utility>

#include "orb/dispatch/manager/manager_agent.h"

namespace corelane::dispatch {

void ManagerAgent::forget(Record& record) noexcept {
  counters_.remove(record.row);
  TaskReport& last = *record.last;
  std::swap(record.report.label, last.label);  // keeps the string that has room
  std::swap(record.report.latest_misses, last.latest_misses);
  std::swap(record.report, last);
  fill(last, *record.worker);
  last.gone = true;
  history_.add(std::move(record.last));
}

// Copies the worker's counters. These are some thousand loads: avoid them under a lock that the manager waits for.
void ManagerAgent::fill(TaskReport& report, const TaskWorker& worker) {
  const TaskStatistics& statistics = worker.statistics();
  report.jobs = statistics.response.count();
  // relaxed: counters of a running task, no order among them.
  report.misses = statistics.misses.load(std::memory_order_relaxed);
  report.overruns = statistics.overruns.load(std::memory_order_relaxed);
  report.oversleeps = statistics.oversleeps.load(std::memory_order_relaxed);
  report.blocks = statistics.blocks.load(std::memory_order_relaxed);
  report.undeclared_locks = statistics.undeclared_locks.load(std::memory_order_relaxed);
  report.refused = statistics.refused.load(std::memory_order_relaxed);
  report.response_p50 = statistics.response.quantile(500'000);
  report.response_p99 = statistics.response.quantile(990'000);
  report.response_max = statistics.response.max();
  report.dedicated_connection = worker.has_dedicated_connection();
  statistics.late.copy_to(report.latest_misses);
}

ExecutiveReport ManagerAgent::report() const {
  ExecutiveReport report;
  report.promises = options_.admission_test->promises;
  std::vector<WorkerPtr> workers;
  std::vector<std::shared_ptr<const std::string>> labels;
  std::vector<std::shared_ptr<const TaskReport>> gone_tasks;
  // All memory is allocated first: a thread that allocates under the lock may be preempted there while the manager
  // waits.
  report.tasks.reserve(options_.max_tasks + TaskHistory::remembered);
  workers.reserve(options_.max_tasks);
  labels.reserve(options_.max_tasks);
  gone_tasks.reserve(TaskHistory::remembered);
  report.cores.reserve(leases_.size());
  {
    const std::lock_guard lock(state_mutex_);
    report.admitted = admitted_;
    report.refused = admission_control_.refusals();
    report.jobs_refused = jobs_refused_ + history_.refused();
    records_.for_each([&](const Record& record) {
      report.tasks.push_back(record.report);
      workers.push_back(record.worker);
      labels.push_back(record.label);
      for (const auto& pool : pools_)
        if (!record.leaving && pool->core() == record.report.core)
          report.tasks.back().early = pool->early_jobs(record.task());
    });
    history_.for_each([&](const auto& task) { gone_tasks.push_back(task); });
    report_cores(report);
  }
  report.jobs_refused += counters_.refused_outside();
  report.refusals = refusals_.latest();
  report.queue_full = counters_.queue_full();
  report.best_effort_jobs = best_effort_.jobs();
  report.best_effort_threads = best_effort_.threads();
  report.best_effort_shortages = best_effort_.shortages();
  report.spare_threads = housekeeper_.spare_threads();
  report.best_effort_servers = best_effort_.servers().report();
  for (std::size_t i = 0; i < workers.size(); ++i) {
    report.tasks[i].label = *labels[i];
    fill(report.tasks[i], *workers[i]);
    report.jobs_refused += workers[i]->statistics().refused.load(std::memory_order_relaxed);  // relaxed: as in fill()
  }
  std::sort(report.tasks.begin(), report.tasks.end(),
            [](const TaskReport& x, const TaskReport& y) { return x.task < y.task; });
  for (const auto& left : gone_tasks) report.tasks.push_back(*left);
  return report;
}

void ManagerAgent::report_cores(ExecutiveReport& report) const {
  for (std::size_t i = 0; i < leases_.size(); ++i)
    if (const auto view = manager_.find(leases_[i].core))
      report.cores.push_back({.core = view->id,
                              .capacity = options_.capacity,
                              .admitted = view->admitted,
                              .platform = std::max<sched::Ppm>(0, view->platform - promises_.others_on(i)),
                              .others = promises_.others_on(i),
                              .tasks = view->tasks,
                              .timer_releases = pools_[i]->timer_releases(),
                              .early_starts = pools_[i]->early_starts(),
                              .guarded = leases_[i].guarded,
                              .lost = view->lost,
                              .order = view->order});
}

}  // namespace corelane::dispatch
