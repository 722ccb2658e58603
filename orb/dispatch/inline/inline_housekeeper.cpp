#include "orb/dispatch/inline/inline_housekeeper.h"

#include <utility>

#include "orb/base/peer.h"
#include "orb/os/clock.h"

namespace corelane::dispatch {
namespace {

TaskCounters counters_of(const TaskReport& task, sched::NativeRange natives) {
  return {.task = task.task,
          .owner = connection_of(task.owner),
          .core = no_core,
          .native = task.real_time ? sched::native_of(task.priority, natives) : 0,
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

void count(const ExecutiveReport& report, sched::NativeRange natives, ProcessCounters& counters) {
  counters.admitted = report.admitted;
  counters.refused = report.refused;
  counters.jobs_refused = report.jobs_refused;
  counters.best_effort_jobs = report.best_effort_jobs;
  counters.refusals = report.refusals;
  for (const TaskReport& task : report.tasks)
    if (!task.gone) counters.tasks.push_back(counters_of(task, natives));
}

}  // namespace

InlineHousekeeper::InlineHousekeeper(std::string directory, std::size_t max_tasks, sched::NativeRange natives,
                                     bool real_time, const TaskEvents& events, Ask ask)
    : natives_(natives),
      conditions_{.guarantee = Guarantee::priorities, .real_time = real_time, .guarded = false},
      ask_(std::move(ask)),
      page_(std::move(directory), 0, max_tasks),
      lateness_(
          events, [this](TaskId task) { return label_of(task); }, LatenessLog::Recorded::not_in_this_mode) {}

Expected<void> InlineHousekeeper::start(std::size_t stack) {
  return thread_.start({.name = "cl-housekeeper", .stack = stack});
}

void InlineHousekeeper::stop() noexcept {
  thread_.stop();
  lateness_.end();
}

std::string InlineHousekeeper::label_of(TaskId task) const {
  for (const TaskReport& report : ask_().tasks)
    if (report.task == task) return report.label;
  return "";
}

bool InlineHousekeeper::step(Time now) noexcept {
  page_.step(now, [this](ProcessCounters& counters) {
    counters.conditions = conditions_;
    count(ask_(), natives_, counters);
  });
  lateness_.step(now);
  wake_at_ = os::now() + CounterPageWriter::period;
  return false;
}

}  // namespace corelane::dispatch
