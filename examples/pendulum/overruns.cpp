#include "examples/pendulum/overruns.h"

namespace corelane::pendulum {

void OverrunLog::note(const rt::Current& job, Duration stalled) noexcept {
  Slot& slot = slot_of(job.job);
  slot.budget.store(job.budget.count(), std::memory_order_relaxed);               // relaxed: published by job
  slot.allowed.store((job.budget + stalled).count(), std::memory_order_relaxed);  // relaxed: published by job
  // PAIR overruns.job: release here -> acquire in heard(). Publishes its budget and what is allowed.
  slot.job.store(job.job.value, std::memory_order_release);
}

void OverrunLog::heard(const rt::TaskEvent& overrun) {
  const Slot& slot = slot_of(overrun.job);
  // PAIR overruns.job: acquire here <- release in note().
  if (slot.job.load(std::memory_order_acquire) != overrun.job.value) return;
  const auto used = overrun.used.count();
  if (used <= slot.budget.load(std::memory_order_relaxed)) return;  // relaxed: after job. It slept for too long
  if (used > slot.allowed.load(std::memory_order_relaxed)) return;  // relaxed: after job
  const std::lock_guard lock(mutex_);
  ++excused_[overrun.task];
}

std::uint64_t OverrunLog::excused(TaskId task) const {
  const std::lock_guard lock(mutex_);
  const auto found = excused_.find(task);
  return found == excused_.end() ? 0 : found->second;
}

}  // namespace corelane::pendulum
