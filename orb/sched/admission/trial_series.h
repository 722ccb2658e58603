// TrialSeries makes one trial after the other. All of them together have one budget of evaluations of the exact tests,
// so a search over many cores or tasks has a bound. When the budget is used up, bounds decide the rest (see Effort).
//
// Threads: as Manager. Nothing allocates after construction.
#pragma once

#include <cstdint>

#include "orb/sched/admission/core_task_set.h"
#include "orb/sched/admission/placement.h"
#include "orb/sched/admission/trial.h"

namespace corelane::sched {

class TrialSeries {
 public:
  explicit TrialSeries(const Placement& placement);

  // Begins a series with a budget of so many evaluations.
  void begin(int budget) noexcept;
  // Starts a trial: as Placement::begin().
  void start(const CoreTaskSet& task_set, const Core& core, std::uint32_t slot, const Demand& demand,
             bool bounds_first = false) noexcept;
  // Returns whether a trial was started and has not ended.
  bool is_trying() const noexcept { return is_trying_; }
  // Continues the trial: as Trial::step(). When it has ended, subtracts what it spent from the budget.
  bool step(int& evaluations) noexcept;

  // The result of the last trial that has ended.
  const Verdict& verdict() const noexcept { return trial_.verdict(); }
  CoreTaskSet& task_set() noexcept { return trial_.task_set(); }  // for a trial that fits

 private:
  const Placement& placement_;
  Trial trial_;
  int exact_left_ = 0;  // evaluations of the exact tests left, for all trials
  bool is_trying_ = false;
};

}  // namespace corelane::sched
