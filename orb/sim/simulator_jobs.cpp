// The callers of tasks in virtual time: which jobs they send, and when.
#include <algorithm>
#include <cstdint>

#include "orb/sim/simulator.h"

namespace corelane::sim {

using namespace sched;

// Draws the behavior of the plan's next job.
Simulator::JobState Simulator::draw(std::size_t index, Time nominal) {
  const TaskPlan& plan = plans_[index];
  const Duration demand = plan.demand > Duration::zero() ? plan.demand : plan.contract.budget;
  if (plan.one_in > 1 && random_() % plan.one_in != 0) return {index, nominal, demand};
  JobState job{.plan = index, .nominal = nominal, .demand = demand, .sleeps = plan.sleeps_for > Duration::zero()};
  if (plan.demand_to > demand)
    job.demand += Duration{
        static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>((plan.demand_to - demand).count() + 1))};
  return job;
}

// Releases job `number` of the plan. Its nominal release is fixed; its arrival may be later by the jitter.
void Simulator::release(std::size_t index, std::uint64_t number) {
  const TaskPlan& plan = plans_[index];
  if (reports_[index].evicted || (plan.departs && now_ >= *plan.departs)) return;
  if (source_ != nullptr) return release_next(index, number);
  const Duration every = plan.every > Duration::zero() ? plan.every : plan.contract.period;
  const Time nominal = plan.first_release + every * static_cast<std::int64_t>(number);
  arrive_at_manager(draw(index, nominal), number);
  const Time next = nominal + every;
  const auto late = plan.jittered ? Duration{static_cast<std::int64_t>(
                                        uniform(random_) * static_cast<double>(plan.contract.jitter.count() + 1))}
                                  : Duration{};
  schedule(std::max(now_, next + late), Class::release, What::release, index, number + 1);
}

void Simulator::release_next(std::size_t index, std::uint64_t number) {
  const TaskPlan& plan = plans_[index];
  const JobRelease& next = next_jobs_[index];
  arrive_at_manager({.plan = index,
                     .nominal = plan.first_release + next.nominal.time_since_epoch(),
                     .demand = next.demand,
                     .sleeps = plan.sleeps_for > Duration::zero()},
                    number);
  schedule_next(index, number + 1);
}

// Asks the source for the plan's next job, which has this number.
void Simulator::schedule_next(std::size_t index, std::uint64_t number) {
  const auto next = source_->next(index);
  if (!next) return;
  next_jobs_[index] = *next;
  const Time arrival = plans_[index].first_release + next->nominal.time_since_epoch() + next->delay;
  schedule(std::max(now_, arrival), Class::release, What::release, index, number);
}

void Simulator::arrive_at_manager(JobState state, std::uint64_t number) {
  state.is_of_task = true;
  state.number = number;
  state.arrival = now_;
  const JobId job = new_job(state);
  tell_manager(Arrived{
      .at = now_, .job = job, .task = reports_[state.plan].task, .peer = plans_[state.plan].peer, .contract = {}});
}

// Notes what the core runs from now on.
void Simulator::tell_dispatch(CoreState& core) {
  const auto running = core.core.running();
  JobState* const job = running ? &jobs_[running->value - 1] : nullptr;
  const bool is_of_task = job != nullptr && job->is_of_task;
  if (core.slice && is_of_task && core.slice->task == job->plan && core.slice->number == job->number) return;
  end_slice(core);
  if (!is_of_task) return;
  if (job->started == never) job->started = now_;
  core.slice =
      ExecutedSlice{.task = job->plan, .number = job->number, .core = core.options.id, .begin = now_, .end = now_};
}

void Simulator::end_slice(CoreState& core) {
  if (!core.slice) return;
  core.slice->end = now_;
  if (core.slice->begin < now_) observer_->executed(*core.slice);
  core.slice.reset();
}

void Simulator::tell_end(CoreState& core, const JobState& state) {
  end_slice(core);
  if (state.cancelled) return;
  const Duration deadline = plans_[state.plan].contract.deadline;
  observer_->finished({.task = state.plan,
                       .number = state.number,
                       .release = state.nominal,
                       .arrival = state.arrival,
                       .start = state.started,
                       .finish = now_,
                       .deadline = state.nominal + deadline,
                       .core = core.options.id,
                       .demand = state.demand});
}

}  // namespace corelane::sim
