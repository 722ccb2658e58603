#include "orb/eval/planning/custom_set.h"

#include <algorithm>

#include "orb/dispatch/manager_options.h"
#include "orb/sched/allocation_strategy.h"
#include "orb/sched/share.h"
#include "orb/sched/ticks.h"

namespace corelane::eval {
namespace {

sched::Share load_of(const CandidateCore& core) {
  sched::Share load = 0;
  for (const Task& task : core.tasks)
    load += sched::share_of(task.contract.budget.count(), task.contract.period.count());
  return load;
}

// Compares (R - D) / D, as a server does for the core that it names in a refusal.
bool came_closer(const sched::Refusal& one, const sched::Refusal& other) {
  if (one.response == Duration::max() || other.response == Duration::max())
    return one.response != Duration::max() && other.response == Duration::max();
  return sched::Wide{one.response.count()} * other.deadline.count() <
         sched::Wide{other.response.count()} * one.deadline.count();
}

}  // namespace

CustomSet::CustomSet(const CustomPolicies& policies, const dispatch::ExecutiveOptions& server,
                     std::span<const CoreId> cores)
    : policies_(policies), server_(server) {
  for (const CoreId core : cores) cores_.push_back({.id = core});
  clear();
}

void CustomSet::clear() {
  placed_.clear();
  servers_.clear();
  for (CandidateCore& core : cores_) core.tasks.clear();
  if (policies_.test) return;
  for (const CandidateCore& core : cores_)
    servers_.push_back(std::make_unique<IdleServer>(server_, std::span(&core.id, 1)));
}

bool CustomSet::admits(const Task& task) {
  for (std::size_t core = 0; core < cores_.size(); ++core) cores_[core].fits = fits(core, task);
  const auto core = policies_.allocation ? policies_.allocation(cores_, task) : first_that_fits();
  const bool is_placed = core && cores_[*core].fits;
  refusal_ = refusal_of(core);
  if (is_placed) {
    cores_[*core].tasks.push_back(task);
    placed_.push_back({.core = *core});
  }
  for (std::size_t tried = 0; tried < servers_.size(); ++tried)
    if (cores_[tried].fits) admit_again(tried);
  return is_placed;
}

// Returns why the task is refused, if it is. `core`: the result of the allocation.
sched::Refusal CustomSet::refusal_of(std::optional<std::size_t> core) const {
  if (std::ranges::none_of(cores_, &CandidateCore::fits)) return refusal_of_test();
  if (!core) return {.unallocated = sched::Unallocated::no_core};
  return {.closest = cores_[*core].id, .unallocated = sched::Unallocated::full_core};
}

// Returns what the scenario's test says about the core that came closest. A test that is a function gives no reason.
sched::Refusal CustomSet::refusal_of_test() const {
  if (servers_.empty()) return {.by_bound = true};
  return (*std::ranges::min_element(
              servers_,
              [](const auto& one, const auto& other) { return came_closer(one->refusal(), other->refusal()); }))
      ->refusal();
}

void CustomSet::describe(std::size_t number, TaskVerdict& verdict) const {
  const Placed& placed = placed_[number];
  verdict.core = cores_[placed.core].id;
  if (placed.task != no_task) verdict.bound = servers_[placed.core]->bound_of(placed.task);
}

std::vector<sched::CoreView> CustomSet::cores() const {
  std::vector<sched::CoreView> views;
  for (const CandidateCore& core : cores_)
    views.push_back({.id = core.id,
                     .capacity = sched::whole_core,
                     .admitted = sched::ppm_of(load_of(core)),
                     .tasks = static_cast<std::uint32_t>(core.tasks.size()),
                     .order = dispatch::order_of(server_, core.id)});
  return views;
}

bool CustomSet::fits(std::size_t core, const Task& task) {
  if (policies_.test) {
    std::vector<Task> tasks = cores_[core].tasks;
    tasks.push_back(task);
    return policies_.test(tasks);
  }
  return servers_[core]->try_admit(task.label, task.contract) != no_task;
}

// Replaces the core's server by a new one with the tasks that are placed there. The old one may have a task that was
// only tried. To remove that task is not enough: a Manager still counts a task that has left, as long as other jobs may
// wait for its last job.
void CustomSet::admit_again(std::size_t core) {
  servers_[core] = std::make_unique<IdleServer>(server_, std::span(&cores_[core].id, 1));
  std::size_t next = 0;
  for (Placed& placed : placed_) {
    if (placed.core != core) continue;
    const Task& task = cores_[core].tasks[next++];
    if (const auto admitted = servers_[core]->admit(task.label, task.contract)) placed.task = *admitted;
  }
}

// Returns the first core that fits, in the order of the scenario's allocation.
std::optional<std::size_t> CustomSet::first_that_fits() const {
  const std::size_t last = placed_.empty() ? 0 : placed_.back().core;
  std::optional<sched::SpareCapacity> best;
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    if (!cores_[i].fits) continue;
    const sched::SpareCapacity spare{
        .core = static_cast<int>(i),
        .free = sched::share_of_ppm(sched::whole_core) - load_of(cores_[i]),
        .steps = sched::steps_between(static_cast<int>(last), static_cast<int>(i), static_cast<int>(cores_.size()))};
    if (!best || sched::comes_before(*server_.allocation, spare, *best)) best = spare;
  }
  return best ? std::optional(static_cast<std::size_t>(best->core)) : std::nullopt;
}

}  // namespace corelane::eval
