// Repacker: a plan by which a newcomer gets room: where everybody would run (Packing), and in which order they can go
// there while every deadline holds.
//
// A task leaves its core at an idle instant of it, and comes to a core that holds it beside all who are still there.
// Moves are therefore grouped in phases: all of one phase are under way together, and the next begins when they are
// over. Where two cores would have to swap tasks without room for either, there is no such order, and no plan.
//
// Threads: as Manager. Planning reads the tables and changes nothing in them; they stay as they are from begin() until
// apply(). Nothing allocates after construction. Loops are bounded by tasks times cores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "orb/sched/packing.h"
#include "orb/sched/placement.h"

namespace corelane::sched {

class Repacker {
 public:
  explicit Repacker(const Placement& placement);

  // With a newcomer of this demand, which outlives the planning: first the plan in which nobody moves, and it waits for
  // tasks that are leaving already; with `moving`, then one in which others move.
  void begin(const Demand& newcomer, bool moving) noexcept;
  // Goes on for as many evaluations and counts them off; true when it has ended.
  bool step(int& evaluations) noexcept;
  bool found() const noexcept { return found_; }

  // The plan that was found becomes the tables': Slot::target and Slot::phase of those who move and of the newcomer, in
  // its slot; who moves in phase 0 is charged to its target; cores that take part are reserved.
  void apply(Placement& placement, std::uint32_t newcomer) noexcept;
  // How long it takes at most, while everybody keeps to his contract; `endless`: no bound is known.
  Ticks longest() const noexcept { return longest_; }

 private:
  enum class Stage : std::uint8_t {
    waiting,
    bounding,
    packing,
    copying,
    newcomer,
    joining,
    keeping,
    measuring,
    clearing,
    done
  };

  void next(Stage stage) noexcept;
  void end(bool found) noexcept;
  void wait_on_one(int& evaluations) noexcept;
  void bound_wait(int& evaluations) noexcept;
  void pack(int& evaluations) noexcept;
  void copy_one(int& evaluations) noexcept;
  void join_newcomer(int& evaluations) noexcept;
  void join_one(int& evaluations) noexcept;
  void keep_one(int& evaluations) noexcept;
  void measure_one(int& evaluations) noexcept;
  void clear_one(int& evaluations) noexcept;
  bool try_join(PlannedTask& task, int& evaluations) noexcept;
  bool somebody_leaves(std::size_t core) const noexcept;
  Effort effort() const noexcept;

  const Placement& placement_;
  const Demand* newcomer_ = nullptr;
  bool moving_ = false;
  bool found_ = false;
  Stage stage_ = Stage::done;
  std::size_t at_ = 0;   // which core or task of the stage
  bool trying_ = false;  // trial_ or busy_ is under way for it

  Packing packing_;
  std::vector<PlannedTask> waiter_;  // the plan in which nobody moves
  std::span<PlannedTask> plan_;
  std::vector<int> order_;           // of the cores on which the newcomer may wait, the roomiest first
  std::vector<Roster> rosters_;      // one per core: what is charged there in the phase
  std::vector<Roster> first_phase_;  // the same when all of phase 0 are under way
  int phase_ = 0;
  bool progress_ = false;  // in this phase
  int exact_left_ = 0;     // evaluations of the exact tests, for all trials of the phases
  Trial trial_;
  BusySearch busy_;
  Ticks longest_ = 0;
  Ticks longest_of_phase_ = 0;
};

}  // namespace corelane::sched
