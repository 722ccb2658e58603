#include "orb/sched/admission/trial_series.h"

#include <algorithm>

namespace corelane::sched {

TrialSeries::TrialSeries(const Placement& placement) : placement_(placement) { trial_.reserve(placement.members()); }

void TrialSeries::begin(int budget) noexcept {
  exact_left_ = budget;
  is_trying_ = false;
}

void TrialSeries::start(const CoreTaskSet& task_set, const Core& core, std::uint32_t slot, const Demand& demand,
                        bool bounds_first) noexcept {
  placement_.begin(trial_, task_set, core, slot, demand,
                   {.exact = std::min(Effort{}.exact, exact_left_), .bounds_first = bounds_first});
  is_trying_ = true;
}

bool TrialSeries::step(int& evaluations) noexcept {
  if (!trial_.step(evaluations)) return false;
  is_trying_ = false;
  exact_left_ = std::max(0, exact_left_ - trial_.spent());
  return true;
}

}  // namespace corelane::sched
