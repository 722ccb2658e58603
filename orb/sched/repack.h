// Repacking: where everybody would have to run so that a newcomer fits, and in which order they can go there while
// every deadline holds.
//
// Packing is worst fit decreasing. A task leaves its core at an idle instant of it, and comes to a core that holds it
// beside all who are still there. Moves are therefore grouped in phases: all of one phase are under way together, and
// the next begins when they are over. Where two cores would have to swap tasks without room for either, there is no
// such order, and the repacking is refused.
//
// Threads: as Manager. Loops are bounded by tasks times cores; a packing costs about one analysis per task.
#pragma once

#include <cstdint>
#include <vector>

#include "orb/sched/placement.h"

namespace corelane::sched {

class Repacker {
 public:
  explicit Repacker(const Placement& placement);

  // Plans for the pending slot `newcomer`. When there is a plan: Slot::target and Slot::phase of those who move and of
  // the newcomer are set, cores that take part are reserved. Else nothing has changed.
  bool plan(Placement& placement, std::uint32_t newcomer) noexcept;

  // The plan in which nobody moves: the newcomer waits for tasks that are leaving already.
  bool plan_to_wait(Placement& placement, std::uint32_t newcomer) noexcept;

  // How long the last plan takes at most, while everybody keeps to his contract; `endless`: no bound is known.
  Ticks longest() const noexcept { return longest_; }

 private:
  bool assign(Placement& placement, std::uint32_t newcomer) noexcept;
  bool assign_one(Placement& placement, std::uint32_t slot) noexcept;
  void relabel(Placement& placement) noexcept;
  bool schedule(Placement& placement, std::uint32_t newcomer) noexcept;
  bool run_phase(Placement& placement, int phase) noexcept;
  Ticks longest_phase(Placement& placement, int phase) noexcept;
  bool drop_leaving(Placement& placement) noexcept;
  bool match_one(std::size_t count) noexcept;
  bool joins(Placement& placement, std::uint32_t slot, int phase) noexcept;

  std::vector<Roster> rosters_;       // one per core: the packing, later the state in a phase
  std::vector<std::uint32_t> items_;  // by descending utilization
  std::vector<int> bin_of_;           // per slot: its core in the packing
  std::vector<Share> overlap_;        // cores x cores, for relabel()
  std::vector<int> core_of_bin_;
  std::vector<char> tried_;  // per core: scratch
  Ticks longest_ = 0;
};

}  // namespace corelane::sched
