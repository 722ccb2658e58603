#include "orb/dispatch/manager/work_cycle.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace corelane::dispatch {

WorkCycle::WorkCycle(ManagerDriver& driver, const Sources& sources, const sched::PlatformLoad& platform,
                     const Clock& clock)
    : clock_(clock), driver_(driver), sources_(sources), analysis_budget_(platform) {
  notes_.reserve(sources.notes.room());
}

bool WorkCycle::step(Time now) noexcept {
  const bool serves_candidates = analysis_budget_.is_left(now);
  bool busy = read_notes(now);           // anything was done but jobs
  busy |= driver_.take_cores_back(now);  // first: the tasks of a lost core may go there
  busy |= driver_.leave_lost_core(now);
  busy |= take_attachment();
  const int dispatched = dispatch_jobs(now);
  // A departure that was requested before an admission is done before it.
  busy |= take_lost_peer(now) || take_departure(now) || (serves_candidates && take_admission(now));
  if (serves_candidates && may_analyse(dispatched)) busy |= begin_candidate(now);
  busy |= driver_.promises().refresh(now);
  busy |= serves_candidates && driver_.admission().tell_late(now);
  settled_ = !busy && (settled_ || dispatched == 0);
  driver_.publish_counts();
  const Time ended = clock_.now();
  // A step that finds nothing is not charged. Otherwise, if it took as long as the budget, each step would cause the
  // next one.
  if (serves_candidates && (busy || dispatched > 0)) analysis_budget_.charge(now, ended);
  end_step(ended);
  return !settled_ || dispatched == batch;
}

// Sets when the next step has something to do, and whether work is left for the thread below the tasks.
void WorkCycle::end_step(Time now) noexcept {
  const AdmissionControl& admission = driver_.admission();
  const Time back_at = analysis_budget_.back_at(now);
  const bool is_used_up = back_at > now;
  time_back_at_.store(back_at, std::memory_order_relaxed);  // relaxed: see has_analysis_time()
  leaves_rest_ = admission.is_under_way() || admission.has_refusals() || driver_.tasks().look_at() <= now ||
                 driver_.manager().has_stale_bounds() || (is_used_up && has_candidates(now));
  wake_at_ = std::min(driver_.promises().wake_at(), driver_.core_changes().wake_at());
  if (is_used_up) return static_cast<void>(wake_at_ = std::min(wake_at_, back_at));
  wake_at_ = std::min(wake_at_, admission.tell_by());
  if (!driver_.core_changes().has_lost() && !admission.is_under_way())
    wake_at_ = std::min(wake_at_, admission.wake_at());
}

bool WorkCycle::step_below(Time now) noexcept {
  bool busy = take_lost_peer(now) || take_departure(now) || take_admission(now);
  busy |= dispatch_jobs(now) > 0;
  busy |= driver_.decide_candidate(now);
  busy |= driver_.admission().tell_late(now);
  busy |= driver_.end_unused_tasks(now);
  if (!busy) busy = driver_.admission().explain(now) || !driver_.manager().refresh_bounds(AdmissionControl::slice);
  driver_.publish_counts();
  return busy;
}

Time WorkCycle::below_wakes_at() const noexcept {
  return std::min(driver_.core_changes().has_lost() ? never : driver_.admission().wake_at(), driver_.tasks().look_at());
}

bool WorkCycle::manager_wakes_earlier() const noexcept {
  return std::min(driver_.promises().wake_at(), driver_.admission().tell_by()) < wake_at_;
}

bool WorkCycle::dispatch(JobPtr& job) noexcept {
  if (!sources_.jobs.is_idle()) return false;
  driver_.arrive(std::move(job), clock_.now());
  driver_.publish_counts();
  return true;
}

bool WorkCycle::dispatch_queued() noexcept {
  const bool all = dispatch_jobs(clock_.now()) < batch;
  driver_.publish_counts();
  return all;
}

bool WorkCycle::read_notes(Time now) noexcept {
  notes_.clear();
  sources_.notes.drain(notes_);
  for (const Note& note : notes_) driver_.read(note, now);
  return !notes_.empty();
}

int WorkCycle::dispatch_jobs(Time now) noexcept {
  int taken = 0;
  for (; taken < batch; ++taken) {
    JobPtr job = sources_.jobs.pop();
    if (!job) break;
    driver_.arrive(std::move(job), now);
  }
  return taken;
}

// After a full batch, more requests may wait, and they go first. But requests that keep coming do not shut new tasks
// out.
bool WorkCycle::may_analyse(int dispatched) noexcept {
  if (dispatched == batch && ++skipped_ < most_skipped) return false;
  skipped_ = 0;
  return true;
}

bool WorkCycle::take_lost_peer(Time now) noexcept {
  const std::optional<PeerId> lost = sources_.peers.next_lost();
  if (!lost) return false;
  driver_.admission().drop(*lost);
  sources_.admissions.drop(*lost);
  driver_.tell(sched::PeerLost{.at = now, .peer = *lost}, now);
  return true;
}

bool WorkCycle::take_departure(Time now) noexcept {
  bool by_operator = false;
  const TaskId task = sources_.departures.next(&by_operator);
  if (task == no_task) return false;
  if (by_operator)
    driver_.end_task(task, sched::RefusalCode::ended, now);
  else
    driver_.tell(sched::Departed{.at = now, .task = task}, now);
  return true;
}

bool WorkCycle::take_attachment() noexcept {
  const auto attachment = sources_.peers.next_attachment();
  if (attachment) driver_.tasks().give(*attachment);
  return attachment != nullptr;
}

// Takes in the next new task, if none is being decided.
bool WorkCycle::take_admission(Time now) noexcept {
  if (!driver_.admission().takes_next()) return false;
  AdmissionCandidatePtr next = sources_.admissions.pop();
  if (!next) return false;
  driver_.propose(std::move(next), now);
  return true;
}

// Runs the first slice of a new task's analysis. Most decisions take no more.
bool WorkCycle::begin_candidate(Time now) noexcept {
  return !driver_.admission().is_under_way() && driver_.decide_candidate(now);
}

// Returns whether a new task could be served at once.
bool WorkCycle::has_candidates(Time now) noexcept {
  const AdmissionControl& admission = driver_.admission();
  return admission.takes_next() ? !sources_.admissions.empty() : admission.wake_at() <= now;
}

}  // namespace corelane::dispatch
