#include "orb/sim/simulator.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace corelane::sim {

using namespace sched;  // nearly all names here are those of sched

Simulator::Simulator(const ManagerOptions& options, std::uint64_t seed) : manager_(options), random_(seed) {
  for (const CoreOptions& core : options.cores) {
    const TimerId timer{static_cast<std::uint64_t>(cores_.size())};
    cores_.push_back({core, AnyScheduler(core.id, options.max_tasks, timer), {}});
    if (options.charge_overruns) cores_.back().scheduler.charge_overruns();
    if (core.order == CoreOrder::deadline) use_deadlines(core.id);
    if (core.order == CoreOrder::served) use_servers(core.id);
    if (core.load.budget > Duration::zero() && core.load.period > Duration::zero())
      schedule(Time{}, Class::release, What::platform, cores_.size() - 1);
  }
}

std::size_t Simulator::add(const TaskPlan& plan) {
  plans_.push_back(plan);
  next_jobs_.emplace_back();
  reports_.emplace_back();
  schedule(plan.proposed, Class::release, What::propose, plans_.size() - 1);
  if (plan.departs) schedule(*plan.departs, Class::release, What::depart, plans_.size() - 1);
  return plans_.size() - 1;
}

void Simulator::lose_core(CoreId core, Time at) {
  for (std::size_t i = 0; i < cores_.size(); ++i)
    if (cores_[i].options.id == core) schedule(at, Class::release, What::lose, i);
}

void Simulator::lose_peer(PeerId peer, Time at) { schedule(at, Class::release, What::lose_peer, 0, peer.value); }

void Simulator::allow_early(bool allowed) {
  for (CoreState& core : cores_) core.scheduler.allow_early(allowed);
}

void Simulator::run(Time until) {
  while (!events_.empty() && events_.next() <= until && !stop_.is_due()) {
    now_ = events_.next();
    while (!events_.empty() && events_.next() == now_) {
      happen(events_.take());
      carry_out_all();
    }
    dispatch_touched();
  }
  now_ = std::max(now_, until);
  for (CoreState& core : cores_) core.core.advance(now_);
}

std::uint64_t Simulator::preemptions() const {
  std::uint64_t sum = 0;
  for (const CoreState& core : cores_) sum += core.core.preemptions();
  return sum;
}

Duration Simulator::busy(CoreId id) const {
  for (const CoreState& core : cores_)
    if (core.options.id == id) return core.core.busy();
  return {};
}

std::span<const ScheduledTask> Simulator::tasks_on(CoreId id) const {
  for (const CoreState& core : cores_)
    if (core.options.id == id && !core.lost) return core.scheduler.tasks();
  return {};
}

void Simulator::schedule(Time at, Class order, What what, std::size_t index, std::uint64_t version) {
  events_.schedule(at, order, what, index, version);
}

void Simulator::happen(const Event& event) {
  CoreState* core = event.index < cores_.size() ? &cores_[event.index] : nullptr;
  switch (event.what) {
    case What::reach:
      if (event.version == core->reach_version) reach(event.index);
      break;
    case What::replenished:
      core->touched |= event.version == core->reach_version;
      break;
    case What::wake:
      wake(*core, JobId{event.version});
      break;
    case What::timer:
      if (event.version == core->timer_version && !core->lost) fire(event.index);
      break;
    case What::platform:
      start_platform_load(event.index);
      break;
    case What::work:
      arrive(event.index);
      break;
    case What::propose:
      propose(event.index);
      break;
    case What::release:
      release(event.index, event.version);
      break;
    case What::depart:
      if (reports_[event.index].admitted) tell_manager(Departed{now_, reports_[event.index].task});
      break;
    case What::lose_peer:
      tell_manager(PeerLost{now_, PeerId{event.version}});
      break;
    case What::lose:
      lose(*core);
      break;
  }
}

// Ends the suspension of a job.
void Simulator::wake(CoreState& core, JobId job) {
  if (!core.core.wake(now_, job)) return;
  core.touched = true;
  const TaskId task = reports_[jobs_[job.value - 1].plan].task;
  queue(core.scheduler.decide(Resumed{now_, job, task}), core.options.id);
}

void Simulator::lose(CoreState& core) {
  core.lost = true;
  core.core.drop_all(now_);
  resources_.lose_core(core.options.id);
  core.touched = true;
  tell_manager(CoreLost{now_, core.options.id});
}

// Processes the next event of the running job.
void Simulator::reach(std::size_t index) {
  CoreState& core = cores_[index];
  core.touched = true;
  const auto reached = core.core.reach(now_);
  if (reached && reached->job.server && !reached->job.own_server) return end_work(reached->job);
  if (!reached || reached->job.task == no_task) return;
  const auto [job, what] = *reached;
  mix(static_cast<std::uint64_t>(what) + 1), mix(job.job.value);
  mix(static_cast<std::uint64_t>(now_.time_since_epoch().count()));
  switch (what) {
    case VirtualCore::What::ended:
      return end(core, job);
    case VirtualCore::What::slept: {
      const Duration sleep = plans_[jobs_[job.job.value - 1].plan].sleeps_for;
      schedule(now_ + sleep, Class::completion, What::wake, index, job.job.value);
      return queue(core.scheduler.decide(Suspended{now_, job.job, job.task}), core.options.id);
    }
    case VirtualCore::What::locked:
    case VirtualCore::What::unlocked:
      return lock(core, job.job, what == VirtualCore::What::locked);
    case VirtualCore::What::overran:
      if (core.options.order == CoreOrder::served) core.core.run_at_best_effort(now_, job.task);
      return queue(core.scheduler.decide(Overran{now_, job.job, job.task, job.used}), core.options.id);
  }
}

void Simulator::lock(CoreState& core, JobId job, bool locks) {
  const ResourceId resource = plans_[jobs_[job.value - 1].plan].contract.uses[0].resource;
  if (locks) return core.core.raise(now_, job, resources_.lock(resource, job));
  resources_.unlock(resource);
  core.core.raise(now_, job, best_effort);
}

void Simulator::end(CoreState& core, const ReadyJob& job) {
  const JobState& state = jobs_[job.job.value - 1];
  const Contract& contract = plans_[state.plan].contract;
  TaskReport& report = reports_[state.plan];
  if (observer_ != nullptr) tell_end(core, state);
  resources_.end_job(contract.uses[0].resource, job.job);
  ++report.jobs;
  if (state.cancelled) {
    ++report.cancelled;
  } else {
    report.worst = std::max(report.worst, now_ - state.nominal);
    if (now_ - state.nominal > contract.deadline) ++report.misses;
  }
  if (core.scheduler.has_overrun(job.task, job.job, job.used))  // the job was not watched
    queue(core.scheduler.decide(Overran{now_, job.job, job.task, job.used}), core.options.id);
  for (const ScheduledTask& task : core.scheduler.tasks())
    if (task.id == job.task) report.overruns = task.overruns;
  queue(core.scheduler.decide(Finished{now_, job.job, job.task, job.used}), core.options.id);
}

void Simulator::start_platform_load(std::size_t index) {
  CoreState& core = cores_[index];
  if (core.lost) return;
  const JobId job = new_job({0, now_, core.options.load.budget});
  core.core.start(now_, {job, no_task, platform_priority, core.options.load.budget});
  core.touched = true;
  schedule(now_ + core.options.load.period, Class::release, What::platform, index);
}

void Simulator::dispatch_touched() {
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    CoreState& core = cores_[i];
    if (!std::exchange(core.touched, false)) continue;
    dispatch(i);
    if (const auto running = core.core.running()) mix(3), mix(running->value), mix(i);
    if (observer_ != nullptr) tell_dispatch(core);
  }
  if (slowdown_) slow_down();
}

void Simulator::dispatch(std::size_t index) {
  CoreState& core = cores_[index];
  const auto [reached, replenished] = core.core.dispatch(now_);
  const std::uint64_t version = ++core.reach_version;
  if (reached != never) schedule(reached, Class::completion, What::reach, index, version);
  if (replenished != never) schedule(replenished, Class::replenishment, What::replenished, index, version);
}

// Returns the plan of the task that runs on the core, if there is one.
std::optional<std::size_t> Simulator::running_plan(const CoreState& core) const {
  const auto running = core.core.running();
  if (!running || !jobs_[running->value - 1].is_of_task) return std::nullopt;
  return jobs_[running->value - 1].plan;
}

// Sets how fast each core runs beside the others from now on. Bound: pairs of cores.
void Simulator::slow_down() {
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    CoreState& core = cores_[i];
    std::int64_t slowdown = no_slowdown;
    if (const auto plan = running_plan(core))
      for (const CoreState& other : cores_) {
        const auto beside = running_plan(other);
        if (&other != &core && other.options.cache == core.options.cache && beside)
          slowdown += slowdown_(*plan, *beside) - no_slowdown;
      }
    if (slowdown == core.core.slowdown()) continue;
    core.core.set_slowdown(now_, slowdown);
    dispatch(i);
  }
}

void Simulator::propose(std::size_t index) {
  const TaskPlan& plan = plans_[index];
  const JobId request = new_job({index, now_, Duration{}});
  close_others(plan.core, true);
  tell_manager(Proposed{now_, request, plan.peer, plan.contract});
  close_others(plan.core, false);
}

// Sets whether all other cores are closed to new tasks. Does nothing for no_core.
void Simulator::close_others(CoreId core, bool closed) {
  if (core == no_core) return;
  for (const CoreState& other : cores_)
    if (other.options.id != core) manager_.set_closed(other.options.id, closed);
}

void Simulator::tell_manager(const Fact& fact) {
  const auto commands = manager_.decide(fact);
  while (!manager_.refresh_bounds(std::numeric_limits<int>::max()))
    continue;  // bound: the cores; no virtual time passes
  queue(commands, no_core);
  const bool analysed = std::any_of(commands.begin(), commands.end(), [](const Command& command) {
    return std::holds_alternative<Admit>(command) || std::holds_alternative<Vacate>(command) ||
           std::holds_alternative<Move>(command);
  });
  if (analysed) raise_bounds();
}

// Updates the largest bounds. A new task makes others slower. A task that moves does so on both cores.
void Simulator::raise_bounds() {
  for (TaskReport& report : reports_)
    if (const auto view = manager_.find(report.task)) report.bound = std::max(report.bound, view->response);
}

void Simulator::queue(std::span<const Command> commands, CoreId from) {
  for (const Command& command : commands) commands_.push_back({command, from});
}

void Simulator::carry_out_all() {
  while (!commands_.empty()) {
    const Pending next = commands_.front();
    commands_.pop_front();
    mix(next.command.index() + 16);
    std::visit([&](const auto& command) { carry_out(command, next.from); }, next.command);
  }
}

Simulator::CoreState& Simulator::core_of(CoreId id) {
  return *std::find_if(cores_.begin(), cores_.end(), [&](const CoreState& c) { return c.options.id == id; });
}

JobId Simulator::new_job(const JobState& state) {
  jobs_.push_back(state);
  return JobId{jobs_.size()};
}

void Simulator::mix(std::uint64_t value) {
  for (int byte = 0; byte < 8; ++byte) hash_ = (hash_ ^ (value >> (8 * byte) & 0xff)) * 0x100'0000'01b3;
}

}  // namespace corelane::sim
