#include "orb/sched/admission/repack.h"

#include <algorithm>
#include <utility>

namespace corelane::sched {
namespace {

constexpr int most_exact_in_phases = 65'536;  // about 32 ms; each task that moves is analyzed at least once

}  // namespace

Repacker::Repacker(const Placement& placement)
    : placement_(placement), spare_(placement), packing_(placement), waiter_(1), trials_(placement) {
  const std::size_t cores = placement.cores().size();
  task_sets_.resize(cores);
  first_phase_.resize(cores);
  for (CoreTaskSet& task_set : task_sets_) task_set.reserve(placement.members());
  for (CoreTaskSet& task_set : first_phase_) task_set.reserve(placement.members());
  order_.reserve(cores);
}

void Repacker::begin(const Demand& candidate, bool moving) noexcept {
  candidate_ = &candidate;
  moving_ = moving;
  found_ = false;
  phase_ = 0;
  longest_ = 0;
  trials_.begin(most_exact_in_phases);
  order_.clear();
  const auto bound = placement_.core_of_users(candidate, candidate_slot);
  const auto cores = placement_.cores();
  for (int i = 0; i < static_cast<int>(cores.size()); ++i) {
    const Core& core = placement_.core(i);
    if (!core.lost && !core.closed && (!bound || *bound == i) && somebody_leaves(static_cast<std::size_t>(i)))
      order_.push_back(i);
  }
  spare_.note(candidate);
  std::sort(order_.begin(), order_.end(), [&](int a, int b) { return spare_.is_before(a, b); });
  next(Stage::waiting);
}

bool Repacker::step(int& evaluations) noexcept {
  while (stage_ != Stage::done) {
    if (evaluations <= 0) return false;
    switch (stage_) {
      case Stage::waiting:
        wait_on_one(evaluations);
        break;
      case Stage::bounding:
        bound_wait(evaluations);
        break;
      case Stage::packing:
        pack(evaluations);
        break;
      case Stage::copying:
        copy_one(evaluations);
        break;
      case Stage::candidate:
        join_candidate(evaluations);
        break;
      case Stage::joining:
        join_one(evaluations);
        break;
      case Stage::keeping:
        keep_one(evaluations);
        break;
      case Stage::measuring:
        measure_one(evaluations);
        break;
      case Stage::clearing:
        clear_one(evaluations);
        break;
      case Stage::done:
        break;
    }
  }
  return true;
}

void Repacker::next(Stage stage) noexcept {
  stage_ = stage;
  at_ = 0;
  measuring_ = false;
}

void Repacker::end(bool found) noexcept {
  found_ = found;
  next(Stage::done);
}

bool Repacker::somebody_leaves(std::size_t core) const noexcept {
  const auto members = placement_.cores()[core].task_set.members();
  return std::any_of(members.begin(), members.end(), [&](const Member& m) { return placement_.leaves(m.slot); });
}

// Plans without moves.

void Repacker::wait_on_one(int& evaluations) noexcept {
  if (at_ == order_.size()) {
    if (!moving_) return end(false);
    packing_.begin(*candidate_);
    return next(Stage::packing);
  }
  const Core& core = placement_.core(order_[at_]);
  if (!trials_.is_trying()) {
    evaluations -= cost_of_copy(core.task_set);
    task_sets_[0].copy_from(core.task_set);
    for (const Member& member : core.task_set.members())
      if (placement_.leaves(member.slot)) task_sets_[0].remove(member.slot, true);
    trials_.start(task_sets_[0], core, candidate_slot, *candidate_);
  }
  if (!trials_.step(evaluations)) return;
  if (!trials_.verdict().fits) return static_cast<void>(++at_);
  waiter_[0] = {.to = order_[at_], .phase = 1};
  plan_ = waiter_;
  task_sets_[0].copy_from(core.task_set);
  task_sets_[0].begin_longest_busy(core.model, busy_);
  next(Stage::bounding);
}

void Repacker::bound_wait(int& evaluations) noexcept {
  if (!busy_.step(evaluations)) return;
  longest_ = busy_.longest();
  end(true);
}

// Plans with moves: the phases are simulated on task_sets_.

void Repacker::pack(int& evaluations) noexcept {
  if (!packing_.step(evaluations)) return;
  if (!packing_.found()) return end(false);
  plan_ = packing_.tasks();
  next(Stage::copying);
}

void Repacker::copy_one(int& evaluations) noexcept {
  if (at_ == task_sets_.size()) return next(Stage::candidate);
  const CoreTaskSet& now = placement_.cores()[at_].task_set;
  evaluations -= cost_of_copy(now);
  task_sets_[at_].copy_from(now);
  ++at_;
}

// Tries the task on its target core, together with all tasks that are still there.
bool Repacker::try_join(PlannedTask& task, int& evaluations) noexcept {
  const auto target = static_cast<std::size_t>(task.to);
  if (!trials_.is_trying())
    trials_.start(task_sets_[target], placement_.cores()[target], task.slot, packing_.demand_of(task));
  if (!trials_.step(evaluations)) return false;
  if (!trials_.verdict().fits) return true;
  std::swap(task_sets_[target], trials_.task_set());
  task.phase = phase_;
  return true;
}

// Tries the new task. If it fits, the plan is complete: moves without a phase are not needed.
void Repacker::join_candidate(int& evaluations) noexcept {
  const auto candidate =
      std::find_if(plan_.begin(), plan_.end(), [](const PlannedTask& t) { return t.is_candidate(); });
  if (!try_join(*candidate, evaluations)) return;
  if (candidate->phase != nowhere) return end(true);
  progress_ = false;
  next(Stage::joining);
}

// Tries to move one task in this phase, the largest one first.
void Repacker::join_one(int& evaluations) noexcept {
  if (at_ == plan_.size()) return next(phase_ == 0 ? Stage::keeping : Stage::measuring);
  PlannedTask& task = plan_[plan_.size() - 1 - at_];
  if (task.is_candidate() || task.from == task.to || task.phase != nowhere) return static_cast<void>(++at_);
  if (!try_join(task, evaluations)) return;
  progress_ |= task.phase == phase_;
  ++at_;
}

void Repacker::keep_one(int& evaluations) noexcept {
  if (at_ == task_sets_.size()) return next(Stage::measuring);
  evaluations -= cost_of_copy(task_sets_[at_]);
  first_phase_[at_].copy_from(task_sets_[at_]);
  ++at_;
}

// Measures how long the phase takes: until every core that a task leaves in this phase has been idle once.
void Repacker::measure_one(int& evaluations) noexcept {
  if (at_ == 0 && !measuring_) longest_of_phase_ = 0;
  if (at_ == task_sets_.size()) {
    longest_ = add_up(longest_, longest_of_phase_);
    return next(Stage::clearing);
  }
  if (!measuring_) {
    const bool leaves = std::any_of(plan_.begin(), plan_.end(), [&](const PlannedTask& task) {
      return task.phase == phase_ && task.from == static_cast<int>(at_);
    });
    evaluations -= 1 + static_cast<int>(plan_.size()) / 256;
    if (!leaves && !(phase_ == 0 && somebody_leaves(at_))) return static_cast<void>(++at_);
    task_sets_[at_].begin_longest_busy(placement_.cores()[at_].model, busy_);
    measuring_ = true;
  }
  if (!busy_.step(evaluations)) return;
  measuring_ = false;
  longest_of_phase_ = std::max(longest_of_phase_, busy_.longest());
  ++at_;
}

// The cores were idle. Removes the moved tasks from their old cores, and the tasks that have left.
void Repacker::clear_one(int& evaluations) noexcept {
  const std::size_t cores = task_sets_.size();
  if (at_ == cores) {
    if (!progress_) return end(false);
    ++phase_;
    return next(Stage::candidate);
  }
  evaluations -= cost_of_copy(task_sets_[at_]) + static_cast<int>(plan_.size()) / 256;
  for (const PlannedTask& task : plan_)
    if (task.phase == phase_ && task.from == static_cast<int>(at_)) task_sets_[at_].remove(task.slot, true);
  if (phase_ == 0)
    for (const Member& member : placement_.cores()[at_].task_set.members()) {
      if (!placement_.leaves(member.slot)) continue;
      task_sets_[at_].remove(member.slot, true);
      progress_ = true;
    }
  ++at_;
}

void Repacker::apply(Placement& placement, std::uint32_t candidate) noexcept {
  for (const PlannedTask& task : plan_) {
    if (task.phase == nowhere) continue;
    Slot& slot = placement.slot(task.is_candidate() ? candidate : task.slot);
    slot.target = task.to;
    slot.phase = task.phase;
    placement.core(task.to).reserved = true;
    if (!task.is_candidate()) placement.core(task.from).reserved = true;
  }
  for (const PlannedTask& task : plan_) {
    CoreTaskSet& with_all = first_phase_[static_cast<std::size_t>(std::max(task.to, 0))];
    if (task.phase != 0 || task.is_candidate() || placement.core(task.to).task_set.find(task.slot) != nullptr) continue;
    placement.charge(task.to, with_all);  // once per core: it charges all tasks that move there
  }
}

}  // namespace corelane::sched
