#include "orb/dispatch/records/counter_publisher.h"

#include <algorithm>
#include <utility>

#include "orb/base/peer.h"
#include "orb/os/lock.h"

namespace corelane::dispatch {

CounterPublisher::CounterPublisher(std::string directory, std::vector<CoreCounters> cores, std::size_t max_tasks,
                                   const BestEffortExecutor& best_effort, const RefusalLog& refusals,
                                   const PromiseConditions& conditions)
    : cores_(std::move(cores)),
      max_tasks_(max_tasks),
      best_effort_(best_effort),
      refusals_(refusals),
      conditions_(conditions),
      page_(std::move(directory), cores_.size(), max_tasks) {
  if (page_.wanted()) rows_.reserve(max_tasks);
}

struct CounterPublisher::Row {
  WorkerPtr worker;
  TaskCounters fixed;                         // the fields that do not change
  std::atomic<Duration> largest{Duration{}};  // bound of the response so far
  std::size_t index = 0;                      // in rows_; guarded by mutex_
  // Owner: the thread that calls count().
  std::uint64_t seen = 0;  // jobs at the last count, refused ones included
  Time used{};             // when that number last grew
};

CounterPublisher::RowPtr CounterPublisher::add(const WorkerPtr& worker, const sched::Admit& admit,
                                               const std::string& label, const std::string& holder) {
  if (!page_.wanted()) return nullptr;
  auto row = std::make_shared<Row>();
  row->worker = worker;
  row->fixed.task = admit.task;
  row->fixed.owner = connection_of(admit.peer);
  row->fixed.contract = admit.contract;
  row->largest.store(admit.response, std::memory_order_relaxed);  // relaxed: the lock below publishes it
  row->fixed.label = label;
  row->fixed.holder = holder;
  const os::LockGuard lock(mutex_);
  row->index = rows_.size();
  rows_.push_back(row);
  return row;
}

void CounterPublisher::raise_bound(const RowPtr& row, Duration bound) noexcept {
  if (row) row->largest.store(bound, std::memory_order_relaxed);  // relaxed: a number for a report
}

// The caller's pointer keeps the row until after the lock. The last row takes its place.
void CounterPublisher::remove(const RowPtr& row) noexcept {
  if (!row) return;
  const os::LockGuard lock(mutex_);
  refused_by_gone_ += row->worker->statistics().refused.load(std::memory_order_relaxed);  // relaxed: a count
  rows_.back()->index = row->index;
  std::swap(rows_[row->index], rows_.back());
  rows_.pop_back();
}

void CounterPublisher::note(std::uint64_t admitted, std::uint64_t refused, std::uint64_t jobs_refused) noexcept {
  // relaxed: counts, no order among them
  admitted_.store(admitted, std::memory_order_relaxed);
  refused_.store(refused, std::memory_order_relaxed);
  jobs_refused_.store(jobs_refused, std::memory_order_relaxed);
}

bool CounterPublisher::step(Time now) noexcept {
  const bool is_due = page_.is_due(now);
  (void)write(now);
  return !is_due;
}

bool CounterPublisher::write(Time now) noexcept {
  return page_.step(now, [this, now](ProcessCounters& counters) { count(counters, now); });
}

void CounterPublisher::count(ProcessCounters& counters, Time now) {
  std::vector<RowPtr> rows;
  rows.reserve(max_tasks_);  // before the lock
  {
    const os::LockGuard lock(mutex_);
    for (const RowPtr& row : rows_) rows.push_back(row);
    counters.jobs_refused = refused_by_gone_;
  }
  // relaxed: counts
  counters.admitted = admitted_.load(std::memory_order_relaxed);
  counters.refused = refused_.load(std::memory_order_relaxed);
  counters.jobs_refused += jobs_refused_.load(std::memory_order_relaxed) + refused_outside();
  counters.queue_full = queue_full();
  counters.best_effort_jobs = best_effort_.jobs();
  counters.conditions = conditions_;
  counters.refusals = refusals_.latest();
  counters.cores = cores_;
  for (const auto& row : rows) {
    counters.tasks.push_back(counters_of(*row, now));
    counters.jobs_refused += counters.tasks.back().refused;
  }
  std::ranges::sort(counters.tasks, {}, &TaskCounters::task);
  for (CoreCounters& core : counters.cores)
    for (const TaskCounters& task : counters.tasks)
      if (task.core == core.core) {
        core.admitted += task.contract.budget.count() * 1'000'000 / task.contract.period.count();
        ++core.tasks;
      }
}

TaskCounters CounterPublisher::counters_of(Row& row, Time now) {
  TaskCounters counters = row.fixed;
  const TaskStatistics::Values values = row.worker->statistics().values();
  const ThreadPlacement placement = row.worker->placer().granted_placement();
  counters.core = placement.core;
  counters.native = placement.native;
  counters.bound = row.largest.load(std::memory_order_relaxed);  // relaxed: a number for a report
  counters.jobs = values.jobs;
  counters.misses = values.misses;
  counters.overruns = values.overruns;
  counters.blocks = values.blocks;
  counters.oversleeps = values.oversleeps;
  counters.refused = values.refused;
  counters.p50 = values.p50;
  counters.p99 = values.p99;
  counters.max = values.max;
  const std::uint64_t calls = counters.jobs + counters.refused;
  if (row.used == Time{} || calls != row.seen) row.used = now, row.seen = calls;
  counters.used = row.used;
  counters.thread = row.worker->thread();
  return counters;
}

}  // namespace corelane::dispatch
