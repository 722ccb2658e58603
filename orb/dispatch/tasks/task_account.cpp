#include "orb/dispatch/tasks/task_account.h"

#include <tuple>

#include "orb/dispatch/telemetry/counter.h"

namespace corelane::dispatch {

TaskStatistics::Values TaskStatistics::values() const noexcept {
  // relaxed: counters of a running task, no order among them
  const auto now = [](const std::atomic<std::uint64_t>& counter) { return counter.load(std::memory_order_relaxed); };
  return {response.count(),
          now(misses),
          now(overruns),
          now(refused),
          now(oversleeps),
          now(blocks),
          now(undeclared_locks),
          response.quantile(500'000),
          response.quantile(990'000),
          response.max()};
}

void TaskStatistics::copy_to(TaskReport& report) const {
  const Values now = values();
  std::tie(report.jobs, report.misses, report.overruns, report.refused, report.oversleeps, report.blocks,
           report.undeclared_locks, report.response_p50, report.response_p99, report.response_max) =
      std::tie(now.jobs, now.misses, now.overruns, now.refused, now.oversleeps, now.blocks, now.undeclared_locks,
               now.p50, now.p99, now.max);
  late.copy_to(report.latest_misses);
}

void TaskAccount::add(const JobContext& context, const Ended& ended) noexcept {
  statistics_.response.record(ended.at - context.release);
  if (ended.at > context.deadline) {
    increment(statistics_.misses);
    statistics_.late.record(
        {.release = context.release, .deadline = context.deadline, .finished = ended.at, .core = context.core});
    tell(TaskEventKind::miss, context, ended);
  }
  if (ended.used > contract_.budget) {
    increment(statistics_.overruns);
    tell(TaskEventKind::overrun, context, ended);
  }
  if (has_overslept(ended.slept)) {
    increment(statistics_.oversleeps);
    tell(TaskEventKind::oversleep, context, ended);
  }
}

void TaskAccount::note_block() noexcept { increment(statistics_.blocks); }

void TaskAccount::note_undeclared_lock() noexcept { increment(statistics_.undeclared_locks); }

void TaskAccount::note_refused(sched::RefusalCode why) noexcept {
  statistics_.refused.fetch_add(1, std::memory_order_relaxed);  // relaxed: a count
  if (events_ && why == sched::RefusalCode::job_waiting) events_->note_refused(task_);
}

void TaskAccount::tell(TaskEventKind kind, const JobContext& context, const Ended& ended) noexcept {
  if (!events_) return;
  events_->post({.kind = kind,
                 .task = task_,
                 .job = context.job,
                 .core = context.core,
                 .release = context.release,
                 .deadline = context.deadline,
                 .finished = ended.at,
                 .used = ended.used,
                 .suspended = ended.slept});
}

}  // namespace corelane::dispatch
