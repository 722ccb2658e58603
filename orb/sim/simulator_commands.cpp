// What each command of the Manager and of the CoreSchedulers does to the virtual cores.
#include <algorithm>
#include <cstddef>

#include "orb/sim/simulator.h"

namespace corelane::sim {

using namespace sched;

void Simulator::carry_out(const Admit& c, CoreId) {
  const std::size_t plan = jobs_[c.request.value - 1].plan;
  TaskReport& report = reports_[plan];
  report.answered = report.admitted = true;
  report.task = c.task;
  report.core = c.core;
  report.bound = std::max(report.bound, c.response);
  if (report.startable_at == never) report.startable_at = c.startable_at;  // otherwise it was postponed
  plan_by_task_.insert({c.task.value, plan});
  mix(c.task.value), mix(static_cast<std::uint64_t>(c.core.value));
  AnyScheduler& scheduler = core_of(c.core).scheduler;
  if (c.waits_for_idle) return queue(scheduler.join(now_, c.task, c.contract, c.priority), c.core);
  scheduler.add(c.task, c.contract, c.priority);
  carry_out(Joined{c.task, c.core}, c.core);
}

void Simulator::carry_out(const Postpone& c, CoreId) {
  reports_[jobs_[c.request.value - 1].plan].startable_at = c.startable_at;
}

// Starts the caller of the task.
void Simulator::carry_out(const Joined& c, CoreId) {
  const std::size_t plan = plan_by_task_.at(c.task.value);
  reports_[plan].started = now_;
  plans_[plan].first_release = std::max(now_, plans_[plan].first_release);
  if (source_ != nullptr) return schedule_next(plan, 0);
  schedule(plans_[plan].first_release, Class::release, What::release, plan, 0);
}

void Simulator::carry_out(const Dispatch& c, CoreId) {
  if (c.core == no_core) return;
  CoreState& core = core_of(c.core);
  queue(core.scheduler.decide(Arrived{.at = now_, .job = c.job, .task = c.task, .peer = {}, .contract = {}}), c.core);
}

void Simulator::carry_out(const Reprioritize& c, CoreId) {
  CoreState& core = core_of(c.core);
  if (core.scheduler.reprioritize(c.task, c.priority)) core.core.set_priority(now_, c.task, c.priority);
  core.touched = true;
}

void Simulator::carry_out(const Ceiling& c, CoreId) {
  const auto holder = resources_.set_ceiling(c.resource, c.priority, c.core);
  CoreState& core = core_of(c.core);
  if (holder) core.core.raise(now_, *holder, c.priority);
  core.touched = true;
}

void Simulator::carry_out(const Vacate& c, CoreId) { queue(core_of(c.core).scheduler.vacate(now_, c.task), c.core); }

void Simulator::carry_out(const Move& c, CoreId) {
  ScheduledTask task = core_of(c.from).scheduler.take(c.task);
  if (core_of(c.from).lost) leave_lost_core(task);
  task.priority = c.priority;
  TaskReport& report = reports_[plan_by_task_.at(c.task.value)];
  report.core = c.to;
  ++report.moves;
  mix(c.task.value), mix(static_cast<std::uint64_t>(c.to.value));
  queue(core_of(c.to).scheduler.put(now_, task), c.to);
}

// Resets a task whose core was lost: its jobs are lost with the core. Later jobs count from their release on the new
// core, because the release rule may delay them.
void Simulator::leave_lost_core(ScheduledTask& task) {
  task.busy = task.demoted = task.suspended = false;
  task.waiting_count = 0;
  reports_[plan_by_task_.at(task.id.value)].displaced = true;
}

void Simulator::carry_out(const Dismiss& c, CoreId) { queue(core_of(c.core).scheduler.dismiss(now_, c.task), c.core); }

void Simulator::carry_out(const Evict& c, CoreId) {
  TaskReport& report = reports_[plan_by_task_.at(c.task.value)];
  report.evicted = true;
  report.refusal = c.reason;
}

void Simulator::carry_out(const Refuse& c, CoreId) {
  const JobState& job = jobs_[c.job.value - 1];
  TaskReport& report = reports_[job.plan];
  if (job.demand > Duration::zero()) {
    ++report.refused_jobs;
    return;
  }
  report.answered = true;
  report.refusal = c.reason;
}

void Simulator::carry_out(const Run& c, CoreId from) {
  CoreState& core = core_of(from);
  JobState& job = jobs_[c.job.value - 1];
  const TaskPlan& plan = plans_[job.plan];
  core.touched = true;
  const Time deadline = c.deadline - plan.contract.jitter;
  if (core.core.has(c.job)) {                             // the job already runs
    if (core.options.order == CoreOrder::served) return;  // it keeps the deadline of its server
    if (core.scheduler.uses_deadlines()) return static_cast<void>(core.core.set_deadline(now_, c.job, deadline));
    return core.core.set_priority(now_, c.task, c.priority);
  }
  // If the caller sends too early, the releases of the contract count, not the times of the caller.
  if (plan.every > Duration::zero() && plan.every < plan.contract.period) job.nominal = c.released;
  if (source_ != nullptr) job.nominal = std::max(job.nominal, c.released - plan.contract.jitter);
  if (reports_[job.plan].displaced) job.nominal = std::max(job.nominal, c.released);
  const Duration until_sleep = job.sleeps ? plan.sleeps_after : Duration::max();
  ReadyJob ready{c.job, c.task, c.priority, job.demand, until_sleep};
  if (plan.locks_for > Duration::zero()) {
    ready.locks_at = plan.locks_after;
    ready.unlocks_at = plan.locks_after + plan.locks_for;
  }
  ready.deadline = deadline;
  if (core.options.order == CoreOrder::served) {
    ready.own_server = true;
    ready.server = own_server(core, c.task, plan.contract);
  }
  core.core.start(now_, ready);
}

void Simulator::carry_out(const Demote& c, CoreId from) {
  core_of(from).core.set_priority(now_, c.task, best_effort);
  core_of(from).touched = true;
}

void Simulator::carry_out(const Cancel& c, CoreId from) {
  CoreState& core = core_of(from);
  JobState& job = jobs_[c.job.value - 1];
  job.cancelled = true;
  core.touched = true;
  if (core.core.shorten(now_, c.job, plans_[job.plan].stops_after))  // if it is false, the job was waiting
    core.core.set_priority(now_, c.task, best_effort);
}

void Simulator::carry_out(const Watch& c, CoreId from) {
  CoreState& core = core_of(from);
  core.core.watch(now_, c.job, c.budget);
  core.touched = true;
}

void Simulator::carry_out(const Arm& c, CoreId from) {
  CoreState& core = core_of(from);
  ++core.timer_version;
  core.timers.add(TimerId{0}, c.at);
  const auto index = static_cast<std::size_t>(&core - cores_.data());
  const Time hard = core.timers.next_hard();
  if (hard != never) schedule(std::max(now_, hard), Class::replenishment, What::timer, index, core.timer_version);
}

void Simulator::carry_out(const ReportVacated& c, CoreId) { tell_manager(Vacated{now_, c.task, c.core}); }

}  // namespace corelane::sim
