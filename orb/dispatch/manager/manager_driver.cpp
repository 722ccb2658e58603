#include "orb/dispatch/manager/manager_driver.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <utility>
#include <variant>

#include "orb/base/errors.h"
#include "orb/dispatch/budget_charge.h"
#include "orb/dispatch/manager_options.h"

namespace corelane::dispatch {

ManagerDriver::ManagerDriver(const ExecutiveOptions& options, const std::vector<CoreLease>& leases,
                             CoreProvider& provider, const Clock& clock, const Shared& shared,
                             const AdmittedTasks::Shared& of_tasks)
    : options_(options),
      leases_(leases),
      clock_(clock),
      shared_(shared),
      counters_(of_tasks.counters),
      manager_(manager_options(options, leases), shared.recorder.manager()),
      promises_(options, leases, provider, shared.best_effort.servers(), manager_),
      admission_(manager_, promises_, shared.admissions, BudgetCharge(options, leases), shared.refusals),
      pools_(options, leases, shared.notes, shared.recorder),
      tasks_(options, clock, manager_, promises_, pools_, of_tasks),
      core_changes_(leases, options.real_time, manager_, promises_, pools_) {}

void ManagerDriver::arrive(JobPtr job, Time now) noexcept {
  job->id_ = next_job_id();
  job->arrived = arrival_of(job->arrived, now, clock_);  // what the contract counts from
  const sched::Arrived fact{.at = job->arrived, .job = job->id_, .task = job->task, .peer = job->owner};
  current_ = std::move(job);
  tell(fact, now);
  if (current_) {  // neither placed nor refused: the task is not ready for jobs
    ++jobs_refused_;
    std::exchange(current_, nullptr)->refuse({.code = sched::RefusalCode::reorganizing});
  }
}

// Bound: if an admission fails, the core that it vacates may let another new task be admitted. The Manager knows two
// new tasks, and each fails once.
void ManagerDriver::carry_out(std::span<const sched::Command> commands, Time now) noexcept {
  for (FollowUp next = carry_out_once(commands, now); next;) {
    const sched::Fact fact = *next;
    next = carry_out_once(manager_.decide(fact), now);
  }
}

ManagerDriver::FollowUp ManagerDriver::carry_out_once(std::span<const sched::Command> commands, Time now) noexcept {
  FollowUp next;
  for (const sched::Command& command : commands)
    std::visit([&](const auto& each) { handle(each, now, next); }, command);
  return next;
}

void ManagerDriver::handle(const sched::Admit& admit, Time now, FollowUp& next) noexcept {
  const AdmissionCandidatePtr candidate = admission_.take(admit.request);
  if (candidate && tasks_.admit(admit, *candidate, now)) return;
  if (candidate) candidate->fail(errors::no_memory);  // null: it failed meanwhile
  assert(!next);
  next = sched::Departed{.at = now, .task = admit.task};
}

void ManagerDriver::handle(const sched::Dispatch& command, Time, FollowUp&) noexcept {
  JobPtr job = take_job(command.job);
  if (!job) return;  // the first job of a new task went with its Admit
  if (command.core != no_core) return tasks_.dispatch(command.task, std::move(job));
  if (shared_.best_effort.submit(job) != Pushed::done) job->fail(errors::queue_full);
}

void ManagerDriver::handle(const sched::Dismiss& dismiss, Time now, FollowUp& next) noexcept {
  if (tasks_.dismiss(dismiss, now)) return;
  assert(!next);
  next = sched::Vacated{.at = now, .task = dismiss.task, .core = dismiss.core};
  promises_.has_changed();
}

void ManagerDriver::handle(const sched::Refuse& refuse, Time now, FollowUp&) noexcept {
  if (JobPtr job = take_job(refuse.job)) {
    ++jobs_refused_;
    return job->refuse(tasks_.history().reason_for(job->task, refuse.reason));
  }
  sched::Refuse told = refuse;
  complete(told.reason);
  (void)admission_.refused(told, now);
}

// Fills in what the Manager cannot know: other processes' promises on this core, and the label, the jitter and the
// slowdown of the task that would lose.
void ManagerDriver::complete(sched::Refusal& refusal) noexcept {
  for (std::size_t i = 0; i < leases_.size(); ++i) {
    const auto view = manager_.find(leases_[i].core);
    if (leases_[i].core != refusal.closest || !view) continue;
    refusal.tasks = view->admitted;
    refusal.others = promises_.others_on(i);
    refusal.others_platform = promises_.others_platform_on(i);
    refusal.platform = std::max<sched::Ppm>(0, view->platform - refusal.others);
  }
  const TaskRecord* const loser = tasks_.find(refusal.loser);
  if (!loser) return;
  sched::name_loser(refusal, *loser->label, loser->report.contract.jitter);
  admission_.charge().note_loser_slowdown(refusal, loser->report.contract, *loser->label);
}

JobPtr ManagerDriver::take_job(JobId id) noexcept {
  return current_ && current_->id_ == id ? std::exchange(current_, nullptr) : nullptr;
}

void ManagerDriver::read(const Note& note, Time now) noexcept {
  if (const auto* vacated = std::get_if<sched::Vacated>(&note)) {
    tasks_.on_vacated(*vacated, now);
    tell(sched::Vacated{.at = now, .task = vacated->task, .core = vacated->core}, now);
    promises_.has_changed();
  } else if (const auto* started = std::get_if<ThreadStarted>(&note)) {
    tasks_.on_started(*started, now);
  } else if (const auto* failed = std::get_if<ThreadFailed>(&note)) {
    if (tasks_.on_failed(*failed)) tell(sched::Departed{.at = now, .task = failed->task}, now);
  } else if (const auto* lost = std::get_if<sched::CoreLost>(&note)) {
    core_changes_.note(*lost, now);
  } else if (const auto* returned = std::get_if<sched::CoreReturned>(&note)) {
    core_changes_.note(*returned, now);
  }
}

void ManagerDriver::propose(AdmissionCandidatePtr candidate, Time now) noexcept {
  try {
    candidate->ceilings = tasks_.ceilings_of(candidate->contract);
  } catch (const std::bad_alloc&) {
    return candidate->fail(errors::no_memory);
  }
  candidate->request = next_job_id();
  if (candidate->job) candidate->job->id_ = candidate->request;
  admission_.propose(std::move(candidate), now);
}

bool ManagerDriver::decide_candidate(Time now) noexcept {
  if (core_changes_.has_lost()) return false;
  std::span<const sched::Command> commands;
  const bool busy = admission_.step(now, commands);
  carry_out(commands, now);
  return busy;
}

void ManagerDriver::end_task(TaskId task, sched::RefusalCode why, Time now) noexcept {
  tasks_.will_end(task, why);
  tell(sched::Departed{.at = now, .task = task}, now);
}

bool ManagerDriver::end_unused_tasks(Time now) noexcept {
  return tasks_.end_unused(now, [&](TaskId task) { end_task(task, sched::RefusalCode::unused, now); });
}

bool ManagerDriver::leave_lost_core(Time now) noexcept {
  std::span<const sched::Command> commands;
  const std::optional<CoreId> lost = core_changes_.leave_lost(now, commands);
  if (!lost) return false;
  carry_out(commands, now);
  tasks_.raise_bounds();  // the moved tasks delay others
  pools_.of(*lost)->strand();
  return true;
}

bool ManagerDriver::take_cores_back(Time now) noexcept {
  return core_changes_.take_back(now, [&](const sched::Fact& fact) { tell(fact, now); });
}

void ManagerDriver::publish_counts() noexcept {
  counters_.note(tasks_.admitted(), admission_.refusals(), jobs_refused_);
}

void ManagerDriver::let_all_go(Time now) noexcept {
  admission_.fail_all(errors::shutting_down);
  tasks_.let_all_go(now);
}

void ManagerDriver::forget_all() noexcept {
  tasks_.forget_all();
  promises_.withdraw();
}

// Allocates nothing that report.cores and `tasks` do not have room for.
void ManagerDriver::add_to(ExecutiveReport& report, TaskReports& tasks) const {
  report.admitted = tasks_.admitted();
  report.refused = admission_.refusals();
  report.jobs_refused = jobs_refused_ + tasks_.history().refused();
  tasks_.add_to(tasks);
  for (std::size_t i = 0; i < leases_.size(); ++i)
    if (const auto view = manager_.find(leases_[i].core))
      report.cores.push_back({.core = view->id,
                              .capacity = options_.capacity,
                              .admitted = view->admitted,
                              .platform = std::max<sched::Ppm>(0, view->platform - promises_.others_on(i)),
                              .others = promises_.others_on(i),
                              .tasks = view->tasks,
                              .timer_releases = pools_.all()[i]->timer_releases(),
                              .early_starts = pools_.all()[i]->early_starts(),
                              .guarded = leases_[i].guarded,
                              .lost = view->lost,
                              .order = view->order});
}

}  // namespace corelane::dispatch
