#include "orb/eval/planning/spin_placement.h"

#include <algorithm>
#include <utility>

#include "orb/base/contract.h"
#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/manager_options.h"
#include "orb/sched/allocation_strategy.h"
#include "orb/sched/priority.h"
#include "orb/sched/share.h"
#include "orb/sched/ticks.h"

namespace corelane::eval {
namespace {

using sched::Share;
using sched::SpinningTask;
using sched::Ticks;

sched::Rank rank_of(const Contract& contract, std::size_t age) {
  return {.urgency = (contract.deadline - contract.jitter).count(), .importance = contract.importance, .age = age};
}

// Returns how long a job that is demoted inside a section may execute beyond its budget.
Ticks rest_of_section(const Contract& contract, bool charges) {
  Ticks longest = 0;
  if (is_enforced(contract, charges))
    for (const ResourceUse& use : contract.uses) longest = std::max(longest, use.longest.count());
  return longest;
}

}  // namespace

SpinPlacement::SpinPlacement(const dispatch::ExecutiveOptions& options, std::span<const CoreId> cores)
    : options_(options) {
  for (const CoreId id : cores) {
    Core core{.id = id, .loads = dispatch::own_loads(options, id)};
    const std::vector<dispatch::CoreLease> lease{{.core = id, .physical_core = id.value}};
    core.loads.insert(core.loads.begin(), dispatch::manager_options(options, lease).cores.front().load);
    for (const sched::PlatformLoad& load : core.loads) {
      core.blocking = std::max(core.blocking, load.blocking.count());
      if (load.period > Duration::zero()) core.platform += sched::share_of(load.budget.count(), load.period.count());
    }
    std::erase_if(core.loads, [](const sched::PlatformLoad& load) {
      return load.budget == Duration::zero() || load.period == Duration::zero();
    });
    cores_.push_back(std::move(core));
  }
}

Expected<std::size_t, sched::Refusal> SpinPlacement::admit(const Task& task) {
  std::optional<std::pair<Miss, std::size_t>> closest;
  if (placed_.size() >= options_.max_tasks) return sched::Refusal{.code = sched::RefusalCode::too_many_tasks};
  const std::vector<std::size_t> order = order_of_cores();
  placed_.push_back({.task = task});
  for (const std::size_t core : order) {
    placed_.back().core = core;
    const Miss found = options_.admission_test->promises ? miss() : Miss{};
    if (found.fits) {
      last_core_ = core;
      return placed_.size() - 1;
    }
    if (!closest || is_closer(found, closest->first)) closest.emplace(found, core);
  }
  sched::Refusal reason{.code = sched::RefusalCode::no_core};
  if (closest) reason = refusal(closest->first, closest->second);
  placed_.pop_back();
  return reason;
}

std::vector<Duration> SpinPlacement::bounds() const {
  std::vector<Duration> bounds(placed_.size());
  if (!options_.admission_test->promises) return bounds;
  const Ordered all = ordered();
  const std::vector<sched::Response> responses = sched::spin_responses(all.spinning);
  for (std::size_t i = 0; i < responses.size(); ++i)
    if (all.numbers[i]) bounds[*all.numbers[i]] = Duration{responses[i].value};
  return bounds;
}

std::vector<sched::CoreView> SpinPlacement::cores() const {
  std::vector<sched::CoreView> views;
  const Ordered all = ordered();
  for (std::size_t i = 0; i < cores_.size(); ++i)
    views.push_back({.id = cores_[i].id,
                     .capacity = options_.capacity,
                     .admitted = sched::ppm_of(used(all, i)),
                     .platform = sched::ppm_of(cores_[i].platform),
                     .tasks = static_cast<std::uint32_t>(std::ranges::count(placed_, i, &Placed::core))});
  return views;
}

// Returns the loads, which have higher priorities than all tasks, and then the tasks, the most urgent one first.
SpinPlacement::Ordered SpinPlacement::ordered() const {
  Ordered result;
  for (std::size_t i = 0; i < cores_.size(); ++i)
    for (const sched::PlatformLoad& load : cores_[i].loads) {
      result.spinning.push_back({.core = static_cast<int>(i),
                                 .budget = load.budget.count(),
                                 .period = load.period.count(),
                                 .requests = {},
                                 .jitter = load.jitter.count()});
      result.numbers.emplace_back();
    }
  std::vector<std::size_t> order(placed_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, [this](std::size_t a, std::size_t b) {
    return sched::before(rank_of(placed_[a].task.contract, a), rank_of(placed_[b].task.contract, b));
  });
  for (const std::size_t number : order) {
    result.spinning.push_back(spinning(placed_[number]));
    result.numbers.emplace_back(number);
  }
  return result;
}

// A suspension counts as execution.
SpinningTask SpinPlacement::spinning(const Placed& placed) const {
  const Contract& contract = placed.task.contract;
  const Ticks rest = rest_of_section(contract, options_.charge_overruns);
  SpinningTask task{.core = static_cast<int>(placed.core),
                    .budget = (contract.budget + contract.suspension + dispatch::spin_of(options_)).count() + rest,
                    .period = contract.period.count(),
                    .requests = {},
                    .jitter = contract.jitter.count(),
                    .blocking = cores_[placed.core].blocking};
  for (const ResourceUse& use : contract.uses)
    if (use.resource != no_resource) task.requests.push_back({use.resource, use.longest.count(), placed.task.requests});
  return task;
}

// Returns what the tasks of a core need, with all their spinning.
Share SpinPlacement::used(const Ordered& all, std::size_t core) const {
  Share sum = 0;
  for (std::size_t i = 0; i < all.spinning.size(); ++i) {
    const SpinningTask& task = all.spinning[i];
    if (all.numbers[i] && task.core == static_cast<int>(core))
      sum += sched::share_of(sched::spinning_budget(all.spinning, task), task.period);
  }
  return sum;
}

// A new task may make tasks of other cores late, because they spin for it. So all tasks are analyzed.
SpinPlacement::Miss SpinPlacement::miss() const {
  const Ordered all = ordered();
  for (std::size_t core = 0; core < cores_.size(); ++core)
    if (used(all, core) + cores_[core].platform > sched::share_of_ppm(options_.capacity))
      return {.fits = false, .loser = placed_.size() - 1, .response = sched::endless};
  const std::vector<sched::Response> responses = sched::spin_responses(all.spinning);
  Miss worst;
  for (std::size_t i = 0; i < responses.size(); ++i) {
    if (!all.numbers[i]) continue;
    const bool is_exact = responses[i].verdict == sched::Response::Verdict::exact;
    const Miss found{.fits = is_exact && responses[i].value <= placed_[*all.numbers[i]].task.contract.deadline.count(),
                     .loser = *all.numbers[i],
                     .response = is_exact ? responses[i].value : sched::endless};
    if (!found.fits && (worst.fits || is_closer(worst, found))) worst = found;
  }
  return worst;
}

// Compares (R - D) / D.
bool SpinPlacement::is_closer(const Miss& one, const Miss& other) const {
  if (one.response == sched::endless || other.response == sched::endless)
    return one.response != sched::endless && other.response == sched::endless;
  const Ticks deadline = placed_[one.loser].task.contract.deadline.count();
  const Ticks other_deadline = placed_[other.loser].task.contract.deadline.count();
  return sched::Wide{one.response} * other_deadline < sched::Wide{other.response} * deadline;
}

std::vector<std::size_t> SpinPlacement::order_of_cores() const {
  const Ordered all = ordered();
  std::vector<sched::SpareCapacity> spare;
  const std::size_t count = cores_.size();
  for (std::size_t i = 0; i < count; ++i)
    spare.push_back(
        {.core = static_cast<int>(i),
         .free = sched::share_of_ppm(options_.capacity) - cores_[i].platform - used(all, i),
         .steps = sched::steps_between(static_cast<int>(last_core_), static_cast<int>(i), static_cast<int>(count))});
  std::ranges::sort(spare, [this](const sched::SpareCapacity& a, const sched::SpareCapacity& b) {
    return sched::comes_before(*options_.allocation, a, b);
  });
  std::vector<std::size_t> order;
  for (const sched::SpareCapacity& each : spare) order.push_back(static_cast<std::size_t>(each.core));
  return order;
}

// Call it while the refused task is the last one of `placed_`.
sched::Refusal SpinPlacement::refusal(const Miss& found, std::size_t core) const {
  const Task& loser = placed_[found.loser].task;
  const bool is_own = found.loser + 1 == placed_.size();
  sched::Refusal reason{.code = sched::RefusalCode::not_schedulable,
                        .closest = cores_[core].id,
                        .loser = is_own ? no_task : TaskId{found.loser + 1},
                        .response = found.response == sched::endless ? Duration::max() : Duration{found.response},
                        .deadline = loser.contract.deadline};
  if (is_own)
    reason.jitter = loser.contract.jitter;
  else
    sched::name_loser(reason, loser.label, loser.contract.jitter);
  return reason;
}

}  // namespace corelane::eval
