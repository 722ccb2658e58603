#include "orb/dispatch/inline_counters.h"

#include <utility>

#include "orb/dispatch/counter_page.h"
#include "orb/dispatch/counter_publisher.h"
#include "orb/dispatch/recorder.h"
#include "orb/os/clock.h"
#include "orb/os/host.h"

namespace corelane::dispatch {
namespace {

TaskCounters counters_of(const TaskReport& task) {
  return {.task = task.task,
          .owner = task.owner,
          .core = no_core,
          .native = 0,
          .contract = task.contract,
          .bound = Duration::zero(),
          .jobs = task.jobs,
          .misses = task.misses,
          .overruns = task.overruns,
          .p50 = task.response_p50,
          .p99 = task.response_p99,
          .max = task.response_max,
          .label = task.label};
}

ProcessCounters counters_of(const ExecutiveReport& report) {
  const os::ProcessIdentity self = os::this_process();
  ProcessCounters counters;
  counters.pid = self.pid;
  counters.start_ticks = self.start_ticks;
  counters.pid_namespace = os::this_host().pid_namespace;
  counters.program = program_name();
  counters.written = os::now();
  counters.promises = false;
  counters.admitted = report.admitted;
  counters.refused = report.refused;
  counters.jobs_refused = report.jobs_refused;
  counters.best_effort_jobs = report.best_effort_jobs;
  for (const TaskReport& task : report.tasks)
    if (!task.gone) counters.tasks.push_back(counters_of(task));
  return counters;
}

}  // namespace

InlineCounters::InlineCounters(std::string directory, std::size_t max_tasks, Ask ask)
    : directory_(std::move(directory)), max_tasks_(max_tasks), ask_(std::move(ask)) {
  if (!directory_.empty()) thread_ = std::thread([this] { run(); });
}

InlineCounters::~InlineCounters() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

// Bound: until the destructor.
void InlineCounters::run() {
  std::unique_ptr<CounterPage> page;
  std::unique_lock lock(mutex_);
  do {
    lock.unlock();
    if (!page)
      if (auto made = CounterPage::make(directory_, 0, max_tasks_)) page = std::move(*made);
    if (page) page->write(counters_of(ask_()));
    lock.lock();
  } while (!changed_.wait_for(lock, CounterPublisher::period, [this] { return ends_; }));
}

}  // namespace corelane::dispatch
