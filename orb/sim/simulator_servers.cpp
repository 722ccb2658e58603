// The parts of Simulator for servers and their work, cores that run by deadlines, and firm timers.
#include <algorithm>
#include <cassert>

#include "orb/sched/servers/task_server.h"
#include "orb/sim/simulator.h"

namespace corelane::sim {

using namespace sched;

void Simulator::use_deadlines(CoreId id) {
  CoreState& core = core_of(id);
  core.scheduler.use_deadlines();
  core.core.order_by(Order::deadline);
}

void Simulator::use_servers(CoreId id) {
  use_deadlines(id);
  core_of(id).options.order = CoreOrder::served;
}

// Returns the server of a task. The server stays with the task, so its budget is kept between jobs.
std::size_t Simulator::own_server(CoreState& core, TaskId task, const Contract& contract) {
  const auto found = core.own_servers.find(task.value);
  if (found != core.own_servers.end()) return found->second;
  const ConstantBandwidthServer server(task_server_of(contract), Exhausted::waits);
  return core.own_servers[task.value] = core.core.add_server(server);
}

void Simulator::use_firm_timers(Duration overshoot) {
  for (CoreState& core : cores_) core.timers = FirmTimers(1, overshoot);
}

// Processes an interrupt of the core's hard timer.
void Simulator::fire(std::size_t index) {
  CoreState& core = cores_[index];
  ++timer_interrupts_;
  if (!core.timers.soft_check(now_).empty())
    queue(core.scheduler.decide(Elapsed{now_, TimerId{index}}), core.options.id);
}

std::size_t Simulator::add_server(const ServerPlan& plan) {
  CoreState& core = core_of(plan.core);
  assert(core.scheduler.uses_deadlines() == std::holds_alternative<ConstantBandwidthServer>(plan.server));
  const auto index = static_cast<std::size_t>(&core - cores_.data());
  servers_.push_back({index, core.core.add_server(plan.server), plan.priority});
  return servers_.size() - 1;
}

std::size_t Simulator::add_work(const WorkPlan& plan) {
  work_.push_back({plan});
  schedule(plan.first, Class::release, What::work, work_.size() - 1);
  return work_.size() - 1;
}

Duration Simulator::served(std::size_t server) const {
  return cores_[servers_[server].core].core.server(servers_[server].number).used();
}

void Simulator::arrive(std::size_t index) {
  WorkState& work = work_[index];
  const WorkPlan& plan = work.plan;
  CoreState& core = cores_[servers_[plan.server].core];
  const auto up_to = [&](Duration most) {
    return Duration{1 + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most.count()))};
  };
  if (plan.every > Duration::zero())
    schedule(now_ + (plan.random ? up_to(2 * plan.every) : plan.every), Class::release, What::work, index);
  if (core.lost) return;
  if (work.present == plan.room) {
    ++work.report.dropped;
    return;
  }
  ++work.present;
  ReadyJob job = work_job(plan, plan.random ? up_to(plan.demand) : plan.demand);
  job.job = new_job({index, now_, job.remaining});
  core.core.start(now_, job);
  core.touched = true;
}

// Returns a job of this work. For an IoServer it has the priority, the period and the task of its caller. The task is
// set so that the job follows a change of priority.
ReadyJob Simulator::work_job(const WorkPlan& plan, Duration demand) const {
  const ServerState& server = servers_[plan.server];
  ReadyJob job{.job = {}, .task = no_task, .priority = server.priority, .remaining = demand};
  job.server = server.number;
  if (!std::holds_alternative<IoServer>(cores_[server.core].core.server(server.number).server())) return job;
  job.priority = plan.io.priority;
  job.caller_period = plan.io.period;
  if (!plan.caller || !reports_[*plan.caller].admitted) return job;
  job.task = reports_[*plan.caller].task;
  if (const auto task = manager_.find(job.task)) job.priority = task->priority;
  job.caller_period = plans_[*plan.caller].contract.period;
  return job;
}

void Simulator::end_work(const ReadyJob& job) {
  const JobState& state = jobs_[job.job.value - 1];
  WorkState& work = work_[state.plan];
  WorkReport& report = work.report;
  --work.present;
  ++report.jobs;
  report.worst = std::max(report.worst, now_ - state.nominal);
  mix(job.job.value), mix(static_cast<std::uint64_t>(now_.time_since_epoch().count()));
}

}  // namespace corelane::sim
