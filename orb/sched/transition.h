// Transition: from one placement to the next while every deadline holds. A newcomer that fits nowhere waits until
// others have moved or left; who moves is charged to the new core before it goes and to the old one until that core
// was idle. At most one newcomer waits at a time.
//
// Why idle instants: the response-time argument looks at one busy period of a core, from an instant at which nothing
// was pending. A task that leaves in the middle of one has run in it already, so whoever took its place at once would
// come on top of it. (A zero-lag instant, at which a bandwidth may be handed on under EDF, proves nothing here: the
// work that the leaver has pushed back is still pending under fixed priorities.)
//
// Threads: as Manager. Nothing allocates after construction.
#pragma once

#include <cstdint>

#include "orb/base/ids.h"
#include "orb/sched/answer.h"
#include "orb/sched/placement.h"
#include "orb/sched/repack.h"

namespace corelane::sched {

class Transition {
 public:
  Transition(Placement& placement, Answer& answer);

  // Whether a newcomer waits, or somebody is still on the way for one whose plan was called off.
  bool under_way() const noexcept;
  bool waits(std::uint32_t slot) const noexcept { return slot == newcomer_ && newcomer_ != newcomer_slot; }

  // Begins the plan that was found for the pending slot. Needs !under_way().
  void begin(std::uint32_t slot, Repacker& plan, Time now) noexcept;
  // The slot's core has let it go, or its task moves no more.
  void vacated(std::uint32_t slot) noexcept;
  void leave(std::uint32_t slot) noexcept;
  // Goes through all phases that can begin; after vacated().
  void advance() noexcept;
  // Calls off what has not begun; what is under way ends by itself. The newcomer is refused, or just forgotten.
  void abort(bool tell_newcomer) noexcept;

 private:
  void begin_phase() noexcept;
  void let_go(std::uint32_t slot) noexcept;
  bool start_move(std::uint32_t slot) noexcept;
  bool somebody_moves() const noexcept;
  bool phase_is_over() const noexcept;
  void end() noexcept;

  Placement& placement_;
  Answer& answer_;
  std::uint32_t newcomer_ = newcomer_slot;  // who waits; newcomer_slot: nobody
  int phase_ = 0;                           // that is under way
};

}  // namespace corelane::sched
