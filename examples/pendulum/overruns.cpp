#include "examples/pendulum/overruns.h"

#include <algorithm>

namespace corelane::pendulum {
namespace {

using dispatch::Miss;
using dispatch::TaskReport;

// Whether it took more than its budget: a job that slept for too long is told of as well.
bool exceeded(const rt::TaskEvent& overrun, const dispatch::ExecutiveReport& report) {
  const auto task = std::ranges::find(report.tasks, overrun.task, &TaskReport::task);
  return task != report.tasks.end() && overrun.used > task->contract.budget;
}

// Whether the job that overran goes before the late one of the task on the core of both.
bool goes_before(const rt::TaskEvent& overrun, const TaskReport& task, const Miss& late,
                 const dispatch::ExecutiveReport& report) {
  if (overrun.task == task.task) return true;
  const auto core = std::ranges::find(report.cores, late.core, &dispatch::CoreReport::core);
  const auto order = core != report.cores.end() ? core->order : sched::CoreOrder::priority;
  if (order == sched::CoreOrder::served) return false;  // its server holds it to its budget
  if (order == sched::CoreOrder::deadline) return overrun.deadline <= late.deadline;
  const auto other = std::ranges::find(report.tasks, overrun.task, &TaskReport::task);
  return other != report.tasks.end() && other->priority >= task.priority;
}

}  // namespace

void OverrunLog::note(const rt::Current& job, Duration stalled) noexcept {
  Slot& slot = slot_of(job.job);
  slot.budget.store(job.budget.count(), std::memory_order_relaxed);               // relaxed: published by job
  slot.allowed.store((job.budget + stalled).count(), std::memory_order_relaxed);  // relaxed: published by job
  // PAIR overruns.job: release here -> acquire in heard(). Publishes its budget and what is allowed.
  slot.job.store(job.job.value, std::memory_order_release);
}

void OverrunLog::heard(const rt::TaskEvent& overrun) {
  const bool by_stall = is_excused(overrun);
  const std::lock_guard lock(mutex_);
  told_ += 1 + overrun.lost;
  latest_.push_back(overrun);
  if (latest_.size() > remembered) latest_.pop_front();
  if (by_stall) ++excused_[overrun.task];
}

bool OverrunLog::is_excused(const rt::TaskEvent& overrun) noexcept {
  const Slot& slot = slot_of(overrun.job);
  // PAIR overruns.job: acquire here <- release in note().
  if (slot.job.load(std::memory_order_acquire) != overrun.job.value) return false;
  const auto used = overrun.used.count();
  if (used <= slot.budget.load(std::memory_order_relaxed)) return false;  // relaxed: after job. It slept for too long
  return used <= slot.allowed.load(std::memory_order_relaxed);            // relaxed: after job
}

std::uint64_t OverrunLog::excused(TaskId task) const {
  const std::lock_guard lock(mutex_);
  const auto found = excused_.find(task);
  return found == excused_.end() ? 0 : found->second;
}

std::uint64_t OverrunLog::told() const {
  const std::lock_guard lock(mutex_);
  return told_;
}

bool OverrunLog::explains(const TaskReport& task, const Miss& late, const dispatch::ExecutiveReport& report) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(latest_, [&](const rt::TaskEvent& overrun) {
    return overrun.core == late.core && exceeded(overrun, report) && overrun.finished > late.release &&
           overrun.release < late.finished && goes_before(overrun, task, late, report);
  });
}

}  // namespace corelane::pendulum
