// SplitPlacement places tasks on cores that run the earliest deadline first. A task goes to the first core on which all
// deadlines hold. If there is none, it is cut into parts for several cores (Burns, Davis, Wang & Zhang 2012, "C=D
// splitting"; orb/sched/analysis/splitting.h). Placed tasks do not move.
//
// Threads: owned by one thread at a time. Allocates.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "orb/sched/admission_test.h"
#include "orb/sched/analysis/demand.h"
#include "orb/sched/analysis/splitting.h"
#include "orb/sched/ticks.h"

namespace corelane::sched {

class SplitPlacement {
 public:
  explicit SplitPlacement(std::size_t cores) : cores_(cores) {}

  // Places the task, if its deadline and those of all tasks before hold. Returns whether they do.
  bool place(const SporadicTask& task);
  void clear();

  // Returns the parts of a task in the order in which they run, at least one. `number`: its number among the placed
  // tasks, from 0.
  std::span<const SplitPart> parts(std::size_t number) const { return placed_[number].parts; }
  // Returns a bound of the task's response beside all placed tasks, at most its deadline.
  Ticks response(std::size_t number) const;
  // Returns the tasks, and the parts of tasks, on a core.
  std::span<const EdfTask> tasks_on(std::size_t core) const { return cores_[core]; }

 private:
  struct Placed {
    Ticks deadline = 0;
    std::vector<SplitPart> parts{};
    std::size_t last = 0;  // the index of the last part on its core
  };
  std::vector<SplitPart> parts_for(const EdfTask& task) const;

  std::vector<std::vector<EdfTask>> cores_;
  std::vector<Placed> placed_;
};

}  // namespace corelane::sched
