#include "orb/sched/admission/trial.h"

#include <utility>

namespace corelane::sched {

void Trial::begin(const CoreModel& model, const Roster& base, std::uint32_t slot, const Demand& demand,
                  AdmissionTest test, int levels, const Effort& effort) noexcept {
  spent_ = 0;
  owed_ = cost_of_copy(base);
  done_ = base.members().size() + 1 >= roster_.capacity();
  verdict_ = {.undecided = true, .response = endless, .deadline = demand.deadline};
  if (done_) return;
  roster_.copy_from(base);
  roster_.begin_add(model, {.slot = slot, .demand = demand}, test, levels, effort);
}

bool Trial::step(int& evaluations) noexcept {
  evaluations -= std::exchange(owed_, 0);
  if (done_) return true;
  if (!roster_.step(evaluations)) return false;
  verdict_ = roster_.verdict();
  spent_ = roster_.spent();
  return done_ = true;
}

}  // namespace corelane::sched
