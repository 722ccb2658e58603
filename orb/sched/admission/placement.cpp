#include "orb/sched/admission/placement.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "orb/sched/schedulers/core_scheduler.h"

namespace corelane::sched {

bool backlog_fits(const Contract& c) noexcept {
  return ceil_div((c.deadline + c.jitter).count(), c.period.count()) <= static_cast<Ticks>(max_waiting);
}

Placement::Placement(const ManagerOptions& options) : options_(options) {
  options_.max_tasks = std::min(options_.max_tasks, most_slots);
  options_.levels = std::max(options_.levels, 1);
  members_ = std::min(options_.max_tasks, options_.max_tasks_per_core) + 1;
  slots_.resize(options_.max_tasks);
  for (std::size_t i = slots_.size(); i > 0; --i) free_slots_.push_back(static_cast<std::uint32_t>(i - 1));
  cores_.resize(options_.cores.size());
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    Core& core = cores_[i];
    core.options = options_.cores[i];
    core.model.above.reserve(max_interference + 1);
    core.model.capacity = share_of_ppm(core.options.capacity);
    core.model.order = core.options.order;
    core.model.set(core.options.load, {});
    core.task_set.reserve(members_);
    core.ceilings.reserve(members_ * max_uses);
  }
  trial_.reserve(members_);
}

CoreId Placement::core_id(int index) const noexcept {
  return index == nowhere ? no_core : cores_[static_cast<std::size_t>(index)].options.id;
}

int Placement::index_of(CoreId id) const noexcept {
  for (std::size_t i = 0; i < cores_.size(); ++i)
    if (cores_[i].options.id == id) return static_cast<int>(i);
  return nowhere;
}

std::optional<std::uint32_t> Placement::take_slot() noexcept {
  if (free_slots_.empty()) return std::nullopt;
  const std::uint32_t index = free_slots_.back();
  free_slots_.pop_back();
  touched_ = std::max<std::size_t>(touched_, index + 1);
  const std::uint64_t generation = slots_[index].generation + 1;
  slots_[index] = Slot{};
  slots_[index].used = true;
  slots_[index].generation = generation;
  return index;
}

void Placement::release(std::uint32_t index) noexcept {
  assert(slots_[index].used);
  slots_[index].used = false;
  free_slots_.push_back(index);
}

TaskId Placement::id_of(std::uint32_t index) const noexcept {
  return index == candidate_slot ? no_task : TaskId{slots_[index].generation << slot_bits | index};
}

std::optional<std::uint32_t> Placement::slot_of(TaskId task) const noexcept {
  const auto index = static_cast<std::uint32_t>(slot_index(task));
  if (index >= slots_.size() || !slots_[index].used || id_of(index) != task) return std::nullopt;
  return index;
}

void Placement::begin(Trial& trial, const CoreTaskSet& task_set, const Core& core, std::uint32_t slot,
                      const Demand& demand, const Effort& effort) const noexcept {
  trial.begin(core.model, task_set, slot, demand, *options_.test, options_.levels, effort);
}

Verdict Placement::charge(int index, std::uint32_t slot) noexcept {
  Core& on = core(index);
  begin(trial_, on.task_set, on, slot, slots_[slot].demand);
  int unlimited = std::numeric_limits<int>::max();
  trial_.step(unlimited);
  const Verdict verdict = trial_.verdict();
  if (verdict.fits) charge(index, trial_.task_set());
  return verdict;
}

void Placement::charge(int index, CoreTaskSet& analysed) noexcept {
  std::swap(core(index).task_set, analysed);
  core(index).changed = true;
  core(index).stale |= core(index).model.order != CoreOrder::priority || core(index).task_set.has_loose_bounds();
  ++epoch_;
}

void Placement::discharge(int index, std::uint32_t slot, bool at_idle) noexcept {
  core(index).task_set.remove(slot, at_idle);
  core(index).changed = true;
  ++epoch_;
}

namespace {

bool share_a_resource(const Demand& a, const Demand& b) noexcept {
  if (!a.locks || !b.locks) return false;
  for (const Demand::Section& x : a.sections)
    for (const Demand::Section& y : b.sections)
      if (x.resource != no_resource && x.resource == y.resource) return true;
  return false;
}

}  // namespace

std::optional<int> Placement::core_of_users(const Demand& demand, std::uint32_t self) const noexcept {
  std::optional<int> found;
  if (!demand.locks) return found;
  for (std::uint32_t i = 0; i < touched_; ++i) {
    const Slot& slot = slots_[i];
    if (!slot.used || i == self || !share_a_resource(slot.demand, demand)) continue;
    const int at = slot.core != nowhere ? slot.core : slot.target;
    if (at == nowhere || core(at).lost) continue;
    if (found && *found != at) return nowhere;
    found = at;
  }
  return found;
}

}  // namespace corelane::sched
