// Transition changes from one placement to the next while every deadline holds. A new task that fits nowhere waits
// until others have moved or left. A task that moves is charged to the new core before it moves, and to the old core
// until that core was idle. At most one new task waits at a time.
//
// Why idle instants: the response-time argument looks at one busy period of a core, which begins when nothing is
// pending. A task that leaves within a busy period has already run in it. A task that took its place at once would add
// to that. (Under EDF, bandwidth can be passed on at a zero-lag instant. Under fixed priorities that proves nothing:
// the work that the leaving task has delayed is still pending.)
//
// Threads: as Manager. Nothing allocates after construction.
#pragma once

#include <cstdint>

#include "orb/base/ids.h"
#include "orb/sched/admission/command_buffer.h"
#include "orb/sched/admission/placement.h"
#include "orb/sched/admission/repack.h"

namespace corelane::sched {

class Transition {
 public:
  Transition(Placement& placement, CommandBuffer& buffer);

  // Returns whether a new task waits, or a task still moves for a plan that was called off.
  bool under_way() const noexcept;
  bool waits(std::uint32_t slot) const noexcept { return slot == candidate_ && candidate_ != candidate_slot; }

  // Begins the plan for the pending task in the slot. Call it only if under_way() is false.
  void begin(std::uint32_t slot, Repacker& plan, Time now) noexcept;
  // Processes Vacated: the old core has released the task. A leaving task is removed. A moving task starts on its new
  // core, or stays if the move was called off.
  void vacated(std::uint32_t slot) noexcept;
  void leave(std::uint32_t slot) noexcept;
  // Begins every phase that can begin. Call it after vacated().
  void advance() noexcept;
  // Calls off the moves that have not begun. Moves in progress end by themselves. The new task is removed, and refused
  // if `tell_candidate` is set.
  void abort(bool tell_candidate) noexcept;

 private:
  void begin_phase() noexcept;
  void let_go(std::uint32_t slot) noexcept;
  bool start_move(std::uint32_t slot) noexcept;
  bool somebody_moves() const noexcept;
  bool phase_is_over() const noexcept;
  void end() noexcept;

  Placement& placement_;
  CommandBuffer& buffer_;
  std::uint32_t candidate_ = candidate_slot;  // the new task that waits; candidate_slot: none
  int phase_ = 0;                             // the phase in progress
};

}  // namespace corelane::sched
