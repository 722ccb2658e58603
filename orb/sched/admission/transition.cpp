#include "orb/sched/admission/transition.h"

#include <algorithm>

namespace corelane::sched {

Transition::Transition(Placement& placement, CommandBuffer& buffer) : placement_(placement), buffer_(buffer) {}

bool Transition::under_way() const noexcept { return candidate_ != candidate_slot || somebody_moves(); }

// The tasks that move in the first phase are already charged to their new cores: the plan was analyzed with them.
void Transition::begin(std::uint32_t candidate, Repacker& plan, Time now) noexcept {
  plan.apply(placement_, candidate);
  placement_.note_change();
  candidate_ = candidate;
  phase_ = 0;
  buffer_.say(Postpone{placement_.slot(candidate).request, after(now, plan.longest())});
  const auto slots = placement_.slots();
  for (std::uint32_t i = 0; i < slots.size(); ++i) {
    Slot& slot = slots[i];
    if (!slot.used || i == candidate) continue;
    if (slot.state == TaskState::leaving && placement_.core(slot.core).reserved) slot.phase = 0;
    if (slot.state == TaskState::running && slot.phase == 0) let_go(i);
  }
  advance();
}

// Charges the tasks of this later phase to their new cores, and asks the old cores to release them.
void Transition::begin_phase() noexcept {
  const auto slots = placement_.slots();
  for (std::uint32_t i = 0; i < slots.size(); ++i) {
    if (!slots[i].used || slots[i].phase != phase_ || i == candidate_ || slots[i].state != TaskState::running) continue;
    if (!start_move(i)) return abort(true);
  }
}

bool Transition::start_move(std::uint32_t index) noexcept {
  Slot& slot = placement_.slot(index);
  if (!placement_.charge(slot.target, index).fits) return false;
  let_go(index);
  return true;
}

void Transition::let_go(std::uint32_t index) noexcept {
  Slot& slot = placement_.slot(index);
  slot.state = TaskState::moving;
  buffer_.say(Vacate{placement_.id_of(index), placement_.core_id(slot.core)});
}

bool Transition::somebody_moves() const noexcept {
  const auto slots = placement_.slots();
  return std::any_of(slots.begin(), slots.end(),
                     [](const Slot& slot) { return slot.used && slot.state == TaskState::moving; });
}

// Returns whether no task moves any more, and every task that the plan counts as gone has left. The phase does not wait
// for tasks that decided to leave after the plan was made: the plan counts them as present.
bool Transition::phase_is_over() const noexcept {
  const auto slots = placement_.slots();
  return std::none_of(slots.begin(), slots.end(), [&](const Slot& slot) {
    const bool counted_out = slot.phase != nowhere && slot.phase <= phase_;
    return slot.used && (slot.state == TaskState::moving || (slot.state == TaskState::leaving && counted_out));
  });
}

// The loop ends, because each round begins a new phase and the new task has a phase.
void Transition::advance() noexcept {
  while (candidate_ != candidate_slot && phase_is_over()) {
    ++phase_;
    Slot& slot = placement_.slot(candidate_);
    if (slot.phase > phase_) {
      begin_phase();
      continue;
    }
    if (!placement_.charge(slot.target, candidate_).fits) return abort(true);
    slot.core = slot.target;
    slot.state = TaskState::running;
    placement_.note_placed(slot.core);
    buffer_.admit(candidate_);
    end();
  }
}

void Transition::end() noexcept {
  for (Slot& slot : placement_.slots()) {
    if (slot.state != TaskState::moving) slot.target = nowhere;
    slot.phase = nowhere;
  }
  for (Core& core : placement_.cores()) {
    core.stale |= core.reserved && !core.lost;
    core.reserved = false;
  }
  placement_.note_change();
  candidate_ = candidate_slot;
}

void Transition::abort(bool tell_candidate) noexcept {
  if (candidate_ == candidate_slot) return;
  const std::uint32_t index = candidate_;
  end();
  if (tell_candidate) buffer_.refuse(placement_.slot(index).request, RefusalCode::reorganizing);
  placement_.release(index);
}

void Transition::vacated(std::uint32_t index) noexcept {
  Slot& slot = placement_.slot(index);
  if (slot.state == TaskState::leaving) {
    placement_.discharge(slot.core, index, true);
    placement_.release(index);
    return;
  }
  if (slot.state != TaskState::moving) return;
  const CoreId from = placement_.core_id(slot.core);
  if (slot.target != nowhere) {  // otherwise the move was called off
    placement_.discharge(slot.core, index, true);
    slot.core = slot.target;
  }
  slot.target = nowhere;
  slot.phase = nowhere;
  slot.state = TaskState::running;
  buffer_.move(index, from);
}

void Transition::leave(std::uint32_t index) noexcept {
  Slot& slot = placement_.slot(index);
  if (slot.state == TaskState::leaving) return;
  if (waits(index)) return abort(false);
  if (slot.state == TaskState::moving && slot.target != nowhere) placement_.discharge(slot.target, index, false);
  slot.target = nowhere;
  slot.state = TaskState::leaving;
  placement_.note_change();
  buffer_.say(Dismiss{placement_.id_of(index), placement_.core_id(slot.core)});
}

}  // namespace corelane::sched
