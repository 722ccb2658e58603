#include "orb/dispatch/counter_publisher.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "orb/dispatch/recorder.h"
#include "orb/os/clock.h"
#include "orb/os/directory.h"
#include "orb/os/host.h"
#include "orb/os/log.h"

namespace corelane::dispatch {
CounterPublisher::CounterPublisher(std::string directory, std::vector<CoreCounters> cores, std::size_t max_tasks,
                                   const BestEffortLane& best_effort)
    : directory_(std::move(directory)), cores_(std::move(cores)), max_tasks_(max_tasks), best_effort_(best_effort) {
  if (!directory_.empty()) rows_.reserve(max_tasks);
}

void CounterPublisher::add(const WorkerPtr& worker, const sched::Admit& admit, const std::string& label) {
  if (directory_.empty()) return;
  auto row = std::make_shared<Row>();
  row->worker = worker;
  row->fixed.task = admit.task;
  row->fixed.owner = admit.peer;
  row->fixed.contract = admit.contract;
  row->fixed.bound = admit.response;
  row->fixed.label = label;
  const std::lock_guard lock(mutex_);
  rows_[admit.task] = std::move(row);
}

void CounterPublisher::remove(TaskId task) {
  std::shared_ptr<const Row> row;  // freed after the lock
  const std::lock_guard lock(mutex_);
  const auto found = rows_.find(task);
  if (found == rows_.end()) return;
  row = std::move(found->second);
  rows_.erase(found);
}

void CounterPublisher::note(std::uint64_t admitted, std::uint64_t refused, std::uint64_t jobs_refused) noexcept {
  // relaxed: counts, no order among them
  admitted_.store(admitted, std::memory_order_relaxed);
  refused_.store(refused, std::memory_order_relaxed);
  jobs_refused_.store(jobs_refused, std::memory_order_relaxed);
}

bool CounterPublisher::step(Time now) noexcept try {
  if (directory_.empty() || now < next_) return false;
  if (!page_ && !make_page()) return next_ = now + period, false;
  const Time begin = os::now();
  page_->write(collect(now));
  next_ = now + std::max<Duration>(period, 20 * (os::now() - begin));
  return true;
} catch (const std::bad_alloc&) {
  next_ = now + period;
  return false;
}

// The directory may come, and its disk have room, later.
bool CounterPublisher::make_page() {
  const auto ready = os::make_directory(directory_);
  auto page = ready ? CounterPage::make(directory_, cores_.size(), max_tasks_) : Error{};
  if (page) {
    page_ = std::move(*page);
    (void)read_pages(directory_);  // and so removes those of the dead, where nobody looks at counters
  } else if (!std::exchange(said_, true)) {
    const std::string why = ready ? "in " + directory_ + ": " + std::strerror(errno) : ready.error();
    os::log::warn("no counters for `corelane top` as yet: " + why);
  }
  return page_ != nullptr;
}

ProcessCounters CounterPublisher::collect(Time now) {
  std::vector<std::shared_ptr<const Row>> rows;
  rows.reserve(max_tasks_);  // before the lock
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [task, row] : rows_) rows.push_back(row);
  }
  const os::ProcessIdentity self = os::this_process();
  ProcessCounters counters;
  counters.pid = self.pid;
  counters.start_ticks = self.start_ticks;
  counters.pid_namespace = os::this_host().pid_namespace;
  counters.program = program_name();
  counters.written = now;
  // relaxed: counts
  counters.admitted = admitted_.load(std::memory_order_relaxed);
  counters.refused = refused_.load(std::memory_order_relaxed);
  counters.jobs_refused = jobs_refused_.load(std::memory_order_relaxed);
  counters.best_effort_jobs = best_effort_.jobs();
  counters.cores = cores_;
  for (const auto& row : rows) counters.tasks.push_back(counters_of(*row));
  std::ranges::sort(counters.tasks, {}, &TaskCounters::task);
  for (CoreCounters& core : counters.cores)
    for (const TaskCounters& task : counters.tasks)
      if (task.core == core.core) {
        core.admitted += task.contract.budget.count() * 1'000'000 / task.contract.period.count();
        ++core.tasks;
      }
  return counters;
}

TaskCounters CounterPublisher::counters_of(const Row& row) {
  TaskCounters counters = row.fixed;
  const TaskStatistics& statistics = row.worker->statistics();
  const Seat seat = row.worker->seat();
  counters.core = seat.core;
  counters.native = seat.native;
  counters.jobs = statistics.response.count();
  // relaxed: counters of a running task, no order among them.
  counters.misses = statistics.misses.load(std::memory_order_relaxed);
  counters.overruns = statistics.overruns.load(std::memory_order_relaxed);
  counters.p50 = statistics.response.quantile(500'000);
  counters.p99 = statistics.response.quantile(990'000);
  counters.max = statistics.response.max();
  return counters;
}

}  // namespace corelane::dispatch
