#include "orb/sched/admission/packing.h"

#include <algorithm>
#include <utility>

namespace corelane::sched {
namespace {

constexpr int most_exact_in_packing = 32'768;  // about 16 ms

bool alike(const Core& a, const Core& b) noexcept {
  return a.model.capacity == b.model.capacity && a.model.blocking == b.model.blocking &&
         a.model.above == b.model.above && a.model.order == b.model.order;
}

// Returns whether all cores that are not lost are interchangeable.
bool all_alike(std::span<const Core> cores) noexcept {
  const Core* first = nullptr;
  for (const Core& core : cores) {
    if (core.lost) continue;
    if (first == nullptr) first = &core;
    if (!alike(*first, core)) return false;
  }
  return true;
}

}  // namespace

Packing::Packing(const Placement& placement) : placement_(placement), spare_(placement), trials_(placement) {
  const std::size_t cores = placement.cores().size();
  task_sets_.resize(cores);
  for (CoreTaskSet& task_set : task_sets_) task_set.reserve(placement.members());
  tasks_.reserve(placement.options().max_tasks + 1);
  tried_.resize(cores);
  overlap_.resize(cores * cores);
  core_of_bin_.resize(cores);
}

const Demand& Packing::demand_of(const PlannedTask& task) const noexcept {
  return task.is_candidate() ? *candidate_ : placement_.slots()[task.slot].demand;
}

// Orders the heap, which returns the largest task first. Of tasks with equal shares, the new task comes last.
bool Packing::smaller(const PlannedTask& a, const PlannedTask& b) const noexcept {
  const Share share_a = demand_of(a).share;
  const Share share_b = demand_of(b).share;
  return share_a != share_b ? share_a < share_b : a.slot > b.slot;
}

// Runs in one piece. Bound: the number of tasks, a few nanoseconds each.
void Packing::begin(const Demand& candidate) noexcept {
  candidate_ = &candidate;
  stage_ = Stage::packing;
  found_ = false;
  tasks_.clear();
  tasks_.push_back({});
  const auto slots = placement_.slots();
  for (std::uint32_t i = 0; i < slots.size(); ++i)
    if (slots[i].used && slots[i].state == TaskState::running) tasks_.push_back({.slot = i, .from = slots[i].core});
  std::make_heap(tasks_.begin(), tasks_.end(), [&](const auto& a, const auto& b) { return smaller(a, b); });
  for (CoreTaskSet& task_set : task_sets_) task_set.clear();
  trials_.begin(most_exact_in_packing);
  last_placed_ = placement_.last_placed();
  if (is_hopeless()) return end(false);
  left_ = tasks_.size() + 1;
  next_task();
}

// Returns whether there are more tasks than all cores have room for, or more utilization than they have together.
bool Packing::is_hopeless() const noexcept {
  std::size_t most_tasks = 0;
  Share capacity = 0;
  for (const Core& core : placement_.cores()) {
    if (core.lost) continue;
    most_tasks += placement_.members() - 1;
    capacity += std::max<Share>(0, core.model.capacity - core.model.platform);
  }
  if (tasks_.size() > most_tasks) return true;
  if (!placement_.options().test->promises) return false;
  Share wanted = 0;
  for (const PlannedTask& task : tasks_) wanted += demand_of(task).share;
  return wanted > capacity;
}

bool Packing::step(int& evaluations) noexcept {
  while (stage_ != Stage::done) {
    if (evaluations <= 0) return false;
    stage_ == Stage::packing ? pack_one(evaluations) : match_one(evaluations);
  }
  return true;
}

void Packing::end(bool found) noexcept {
  found_ = found;
  stage_ = Stage::done;
}

// Takes the next task. A task that locks resources stays on its core, because other tasks there share them.
void Packing::next_task() noexcept {
  if (--left_ == 0) return begin_matching();
  const auto heap_end = tasks_.begin() + static_cast<std::ptrdiff_t>(left_);
  std::pop_heap(tasks_.begin(), heap_end, [&](const auto& a, const auto& b) { return smaller(a, b); });
  const PlannedTask& task = tasks_[left_ - 1];
  const Demand& demand = demand_of(task);
  bound_.reset();
  if (demand.locks)
    bound_ = task.is_candidate() ? placement_.core_of_users(demand, candidate_slot) : std::optional<int>(task.from);
  std::fill(tried_.begin(), tried_.end(), false);
  core_ = nowhere;
  spare_.note(demand, task_sets_, last_placed_);
}

// Tries the task on the next core of the strategy's order.
void Packing::pack_one(int& evaluations) noexcept {
  PlannedTask& task = tasks_[left_ - 1];
  const auto cores = placement_.cores();
  if (core_ == nowhere) {
    core_ = next_core();
    if (core_ == nowhere) return end(false);
    const auto index = static_cast<std::size_t>(core_);
    tried_[index] = true;
    evaluations -= 1 + static_cast<int>(cores.size()) / 64;
    if ((cores[index].closed && task.is_candidate()) || (bound_ && *bound_ != core_)) {
      core_ = nowhere;
      return;
    }
    // The responses do not matter here: each task is analyzed again on its final core.
    trials_.start(task_sets_[index], cores[index], task.slot, demand_of(task), true);
  }
  if (!trials_.step(evaluations)) return;
  const int tried = std::exchange(core_, nowhere);
  if (!trials_.verdict().fits) return;
  std::swap(task_sets_[static_cast<std::size_t>(tried)], trials_.task_set());
  task.to = last_placed_ = tried;
  next_task();
}

// Returns the first core, in the order of the strategy, on which the task was not tried yet. If several are as good,
// prefers the task's own core.
int Packing::next_core() const noexcept {
  const int home = tasks_[left_ - 1].from;
  const auto before = placement_.options().allocation->before;
  int best = nowhere;
  for (int i = 0; i < static_cast<int>(task_sets_.size()); ++i) {
    if (tried_[static_cast<std::size_t>(i)] || placement_.core(i).lost) continue;
    const SpareCapacity& spare = spare_.of(i);
    if (best == nowhere || before(spare, spare_.of(best)) || (i == home && !before(spare_.of(best), spare))) best = i;
  }
  return best;
}

// Assigns the packed bins to cores. If all cores are alike, it does not matter which core gets which bin. So each bin
// goes to the core that already holds most of it, the largest overlap first, and few tasks move. If a task locks
// resources, every bin keeps its core. So it does if tasks were kept apart by their caches.
void Packing::begin_matching() noexcept {
  const auto cores = placement_.cores();
  const bool anybody_locks =
      std::any_of(tasks_.begin(), tasks_.end(), [&](const auto& t) { return demand_of(t).locks; });
  const bool by_caches =
      placement_.options().allocation->regards_caches &&
      std::any_of(tasks_.begin(), tasks_.end(), [&](const auto& t) { return demand_of(t).intensive; });
  if (anybody_locks || by_caches || !all_alike(cores)) return end(true);
  stage_ = Stage::matching;
  std::fill(overlap_.begin(), overlap_.end(), Share{0});
  for (const PlannedTask& task : tasks_) {
    if (task.is_candidate()) continue;
    overlap_[static_cast<std::size_t>(task.to) * cores.size() + static_cast<std::size_t>(task.from)] +=
        demand_of(task).share;
  }
  for (std::size_t i = 0; i < cores.size(); ++i) {
    core_of_bin_[i] = cores[i].lost ? static_cast<int>(i) : nowhere;
    tried_[i] = cores[i].lost;
  }
}

// Assigns one more bin to a core. It scans all pairs.
void Packing::match_one(int& evaluations) noexcept {
  const std::size_t count = task_sets_.size();
  evaluations -= 1 + static_cast<int>(count * count) / 256;
  std::size_t bin = count;
  std::size_t core = count;
  for (std::size_t b = 0; b < count; ++b) {
    if (core_of_bin_[b] != nowhere) continue;
    for (std::size_t c = 0; c < count; ++c) {
      if (tried_[c]) continue;
      if (bin == count || overlap_[b * count + c] > overlap_[bin * count + core]) bin = b, core = c;
    }
  }
  if (bin < count) {
    core_of_bin_[bin] = static_cast<int>(core);
    tried_[core] = true;
    return;
  }
  for (PlannedTask& task : tasks_) task.to = core_of_bin_[static_cast<std::size_t>(task.to)];
  end(true);
}

}  // namespace corelane::sched
