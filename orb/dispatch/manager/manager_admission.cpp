// How ManagerAgent handles new tasks: above the tasks, as far as its own time lasts and a decision takes one slice;
// below them otherwise.
#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "orb/base/errors.h"
#include "orb/dispatch/manager/manager_agent.h"
#include "orb/os/thread.h"

namespace corelane::dispatch {

// Takes in the next new task, if none is being decided.
bool ManagerAgent::take_admission(Time now) noexcept {
  if (!admission_control_.takes_next()) return false;
  AdmissionCandidatePtr next = admissions_.pop();
  if (!next) return false;
  try {
    next->ceilings = ceilings_.of(next->contract);
  } catch (const std::bad_alloc&) {
    return next->fail(errors::no_memory), true;
  }
  next->request = next_job_id();
  if (next->job) next->job->id_ = next->request;
  admission_control_.propose(std::move(next), now);
  return true;
}

// Runs the first slice of a new task's analysis. Most decisions take no more.
bool ManagerAgent::begin_candidate(Time now) noexcept {
  return !admission_control_.is_under_way() && decide_candidate(now);
}

// While tasks are on a lost core, no task is admitted.
bool ManagerAgent::decide_candidate(Time now) noexcept {
  if (!lost_.empty()) return false;
  std::span<const sched::Command> commands;
  const bool busy = admission_control_.step(now, commands);
  carry_out_all(commands, now);
  return busy;
}

// Wakes a thread for a new task. Both threads serve new tasks. The one below the tasks is woken if the manager's would
// only wake up to find its time used.
void ManagerAgent::wake_for_candidate(Time now) noexcept {
  // relaxed: a hint. The manager's thread looks again when its time is back.
  const bool below = now < time_back_at_.load(std::memory_order_relaxed);
  (below ? below_.parker() : parker_).unpark();
}

// Ends a step: wakes the thread below the tasks if work is left for it, and sets when the next step has something to
// do.
void ManagerAgent::leave_rest_below(Time now) noexcept {
  const Time back_at = analysis_budget_.back_at(now);
  const bool is_used_up = back_at > now;
  time_back_at_.store(back_at, std::memory_order_relaxed);  // relaxed: see wake_for_candidate()
  if (admission_control_.is_under_way() || admission_control_.has_refusals() || leases_of_tasks_.look_at() <= now ||
      manager_.has_stale_bounds() || (is_used_up && has_candidates(now)))
    below_.parker().unpark();
  wake_at_ = std::min(
      {promises_.wake_at(), lost_.empty() ? never : leaving_.at(), returned_.empty() ? never : returning_.at()});
  if (is_used_up) return static_cast<void>(wake_at_ = std::min(wake_at_, back_at));
  wake_at_ = std::min(wake_at_, admission_control_.tell_by());
  if (lost_.empty() && !admission_control_.is_under_way()) wake_at_ = std::min(wake_at_, admission_control_.wake_at());
}

// Returns whether a new task could be served at once.
bool ManagerAgent::has_candidates(Time now) noexcept {
  return admission_control_.takes_next() ? !admissions_.empty() : admission_control_.wake_at() <= now;
}

// Runs one slice, or makes one decision, so that dispatching waits for no more than that.
bool ManagerAgent::step_below(Time now) noexcept {
  const std::lock_guard lock(state_mutex_);
  bool busy = take_lost_peer(now) || take_departure(now) || take_admission(now);
  busy |= dispatch_jobs(now) > 0;
  busy |= decide_candidate(now);
  busy |= admission_control_.tell_late(now);
  busy |= end_unused_tasks(now);
  if (!busy) busy = admission_control_.explain(now) || !manager_.refresh_bounds(AdmissionControl::slice);
  counters_.note(admitted_, admission_control_.refusals(), jobs_refused_);
  if (std::exchange(below_binds_again_, false)) below_.bind_again();
  below_.note(std::min(lost_.empty() ? admission_control_.wake_at() : never, leases_of_tasks_.look_at()),
              promises_.home());
  // The manager's thread writes down smaller promises, and sends late refusals even if this thread gets no time.
  if (std::min(promises_.wake_at(), admission_control_.tell_by()) < wake_at_) parker_.unpark();
  return busy;
}

// The thread is bound to the manager's core, whose platform load includes the slices that run boosted. It runs under
// SCHED_OTHER: if a SCHED_FIFO thread always has something to do, the kernel stops all SCHED_FIFO threads for a part of
// each second.
bool ManagerAgent::Below::step(Time now) noexcept {
  const bool busy = manager_.step_below(now);
  if (manager_.options_.real_time && core_ != home_ && os::bind_this_thread(home_)) core_ = home_;
  return busy;
}

}  // namespace corelane::dispatch
