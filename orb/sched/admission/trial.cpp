#include "orb/sched/admission/trial.h"

#include <utility>

namespace corelane::sched {

void Trial::begin(const CoreModel& model, const CoreTaskSet& base, std::uint32_t slot, const Demand& demand,
                  const AdmissionTest& test, int levels, const Effort& effort) noexcept {
  spent_ = 0;
  owed_ = cost_of_copy(base);
  done_ = base.members().size() + 1 >= task_set_.capacity();
  verdict_ = {.undecided = true, .response = endless, .deadline = demand.deadline};
  if (done_) return;
  task_set_.copy_from(base);
  task_set_.begin_add(model, {.slot = slot, .demand = demand}, test, levels, effort);
}

bool Trial::step(int& evaluations) noexcept {
  evaluations -= std::exchange(owed_, 0);
  if (done_) return true;
  if (!task_set_.step(evaluations)) return false;
  verdict_ = task_set_.verdict();
  spent_ = task_set_.spent();
  return done_ = true;
}

}  // namespace corelane::sched
