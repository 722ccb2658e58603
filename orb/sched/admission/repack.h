// Repacker finds a plan that makes room for a new task. The plan says where every task would run (Packing), and in
// which order the tasks can move there while every deadline holds.
//
// A task leaves its core at an idle instant of that core. It joins a core on which it fits together with all tasks that
// are still there. So moves are grouped in phases. All moves of one phase are in progress together, and the next phase
// begins when they have ended. If two cores would have to exchange tasks and neither has room, there is no such order
// and no plan.
//
// Threads: as Manager. Planning only reads the tables. They must not change between begin() and apply(). Nothing
// allocates after construction. Bound: tasks times cores for every loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "orb/sched/admission/packing.h"
#include "orb/sched/admission/placement.h"
#include "orb/sched/admission/spare_capacities.h"
#include "orb/sched/admission/trial_series.h"

namespace corelane::sched {

class Repacker {
 public:
  explicit Repacker(const Placement& placement);

  // Starts a plan for a new task of this demand. `candidate` must outlive the planning. First it tries a plan without
  // moves, in which the new task waits for tasks that are already leaving. If `moving` is set, it then tries a plan in
  // which other tasks move.
  void begin(const Demand& candidate, bool moving) noexcept;
  // Continues for at most `evaluations` evaluations and subtracts those it made. Returns true when the planning has
  // ended.
  bool step(int& evaluations) noexcept;
  bool found() const noexcept { return found_; }

  // Writes the plan to the tables. Sets Slot::target and Slot::phase of the tasks that move and of the new task, which
  // is in the slot `candidate`. Charges the tasks that move in phase 0 to their targets. Reserves the cores that take
  // part.
  void apply(Placement& placement, std::uint32_t candidate) noexcept;
  // Returns the longest time that the plan takes while every task keeps its contract. `endless`: no bound is known.
  Ticks longest() const noexcept { return longest_; }

 private:
  enum class Stage : std::uint8_t {
    waiting,
    bounding,
    packing,
    copying,
    candidate,
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
  void join_candidate(int& evaluations) noexcept;
  void join_one(int& evaluations) noexcept;
  void keep_one(int& evaluations) noexcept;
  void measure_one(int& evaluations) noexcept;
  void clear_one(int& evaluations) noexcept;
  bool try_join(PlannedTask& task, int& evaluations) noexcept;
  bool somebody_leaves(std::size_t core) const noexcept;

  const Placement& placement_;
  SpareCapacities spare_;
  const Demand* candidate_ = nullptr;
  bool moving_ = false;
  bool found_ = false;
  Stage stage_ = Stage::done;
  std::size_t at_ = 0;      // the index of the core or the task in the stage
  bool measuring_ = false;  // busy_ is in progress for it

  Packing packing_;
  std::vector<PlannedTask> waiter_;  // the plan without moves
  std::span<PlannedTask> plan_;
  std::vector<int> order_;                // the cores where the new task may wait, in the order of the strategy
  std::vector<CoreTaskSet> task_sets_;    // one per core: the tasks charged to it in the current phase
  std::vector<CoreTaskSet> first_phase_;  // the same, with all moves of phase 0 in progress
  int phase_ = 0;
  bool progress_ = false;  // a task has moved or left in this phase
  TrialSeries trials_;     // of all phases
  BusySearch busy_;
  Ticks longest_ = 0;
  Ticks longest_of_phase_ = 0;
};

}  // namespace corelane::sched
