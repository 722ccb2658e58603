#include "examples/pendulum/overruns.h"

#include <algorithm>
#include <vector>

#include "orb/sched/response_time.h"

namespace corelane::pendulum {
namespace {

using dispatch::Miss;
using dispatch::TaskReport;

const TaskReport* task_of(TaskId id, const dispatch::ExecutiveReport& report) {
  const auto found = std::ranges::find(report.tasks, id, &TaskReport::task);
  return found == report.tasks.end() ? nullptr : &*found;
}

sched::CoreOrder order_of(CoreId id, const dispatch::ExecutiveReport& report) {
  const auto core = std::ranges::find(report.cores, id, &dispatch::CoreReport::core);
  return core != report.cores.end() ? core->order : sched::CoreOrder::priority;
}

// Returns how much more than its budget the job took; zero if it only slept too long. The processor time of a thread
// goes on during gaps of the machine, so they are subtracted here and counted separately.
Duration excess_of(const rt::TaskEvent& overrun, const Circumstances& known) {
  const TaskReport* const task = task_of(overrun.task, known.report);
  if (task == nullptr) return {};
  const Duration gaps = known.gaps.external_time(overrun.core, overrun.release, overrun.finished);
  return std::max(Duration::zero(), overrun.used - task->contract.budget - gaps);
}

// Returns whether the job that overran runs before the late job of the task on that core.
bool goes_before(const rt::TaskEvent& overrun, const TaskReport& task, const Miss& late,
                 const dispatch::ExecutiveReport& report) {
  if (overrun.task == task.task) return true;
  const auto order = order_of(late.core, report);
  if (order == sched::CoreOrder::served) return false;  // the server enforces its budget
  if (order == sched::CoreOrder::deadline) return overrun.deadline <= late.deadline;
  const TaskReport* const other = task_of(overrun.task, report);
  return other != nullptr && other->priority >= task.priority;
}

// Returns by how much the task's response on that core grows, under priority scheduling, if it is blocked for `excess`
// longer. Returns zero if the analysis finds no bound.
Duration longer_response(const TaskReport& task, CoreId core, Duration excess, const Circumstances& known) {
  std::vector<sched::Interference> above;
  for (const TaskReport& other : known.report.tasks)
    if (other.task != task.task && other.core == core && other.priority >= task.priority)
      above.push_back({(other.contract.budget + other.contract.suspension).count(), other.contract.period.count(),
                       other.contract.jitter.count()});
  const sched::PlatformLoad& load = known.platform;
  if (load.period > Duration::zero()) above.push_back({load.budget.count(), load.period.count(), load.jitter.count()});
  sched::Analysed analysed{.budget = (task.contract.budget + task.contract.suspension).count(),
                           .period = task.contract.period.count(),
                           .jitter = task.contract.jitter.count(),
                           .blocking = load.blocking.count()};
  const auto before = sched::response_time(analysed, above);
  analysed.blocking += excess.count();
  const auto with = sched::response_time(analysed, above);
  using enum sched::Response::Verdict;
  return before.verdict == exact && with.verdict == exact ? Duration{with.value - before.value} : Duration::zero();
}

}  // namespace

void OverrunLog::note(const rt::Current& job, Duration stalled) noexcept {
  Slot& slot = slot_of(job.job);
  slot.granted.store(job.budget.count(), std::memory_order_relaxed);              // relaxed: published by job
  slot.allowed.store((job.budget + stalled).count(), std::memory_order_relaxed);  // relaxed: published by job
  // PAIR overruns.job: release here -> acquire in heard(). Publishes the job's budget and the allowed time.
  slot.job.store(job.job.value, std::memory_order_release);
}

void OverrunLog::heard(const rt::TaskEvent& overrun) {
  const bool by_stall = is_excused(overrun);
  const std::lock_guard lock(mutex_);
  ++told_;
  latest_.push_back(overrun);
  if (latest_.size() > remembered) latest_.pop_front();
  if (by_stall) ++excused_[overrun.task];
}

bool OverrunLog::is_excused(const rt::TaskEvent& overrun) noexcept {
  const Slot& slot = slot_of(overrun.job);
  // PAIR overruns.job: acquire here <- release in note().
  if (slot.job.load(std::memory_order_acquire) != overrun.job.value) return false;
  const auto used = overrun.used.count();
  if (used <= slot.granted.load(std::memory_order_relaxed)) return false;  // relaxed: after job. It slept for too long
  return used <= slot.allowed.load(std::memory_order_relaxed);             // relaxed: after job
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

OverrunLog::Excess OverrunLog::excess_beside(const TaskReport& task, const Miss& late,
                                             const Circumstances& known) const {
  Excess excess;
  const std::lock_guard lock(mutex_);
  for (const rt::TaskEvent& overrun : latest_)
    if (overrun.core == late.core && overrun.finished > late.release && overrun.release < late.finished &&
        goes_before(overrun, task, late, known.report))
      (overrun.task == task.task ? excess.own : excess.others) += excess_of(overrun, known);
  return excess;
}

bool OverrunLog::explains(const TaskReport& task, const Miss& late, const Circumstances& known) const {
  const Excess excess = excess_beside(task, late, known);
  if (excess.own + excess.others == Duration::zero()) return false;
  const Duration others = excess.others + known.gaps.external_time(late.core, late.release, late.finished);
  if (order_of(late.core, known.report) == sched::CoreOrder::priority)
    return late.finished - late.release <= task.bound + longer_response(task, late.core, excess.own + others, known);
  const auto budgets = sched::ceil_div(excess.own.count(), task.contract.budget.count());
  return late.finished - late.deadline <= others + budgets * task.contract.period;
}

}  // namespace corelane::pendulum
