// Trial finds out, in pieces, whether a core meets all deadlines with one more task. Its result stays separate from the
// tables until Placement::charge() uses it.
//
// Threads: as Manager. Nothing allocates after reserve().
#pragma once

#include <cstddef>
#include <cstdint>

#include "orb/sched/admission/core_task_set.h"

namespace corelane::sched {

class Trial {
 public:
  void reserve(std::size_t members) { task_set_.reserve(members); }

  // Starts a trial of the tasks in `base` on the core `model`, with the task `slot` added. `model` must outlive the
  // trial.
  void begin(const CoreModel& model, const CoreTaskSet& base, std::uint32_t slot, const Demand& demand,
             const AdmissionTest& test, int levels, const Effort& effort) noexcept;
  // Works like CoreTaskSet::step(). The copy of the task set counts as evaluations, too.
  bool step(int& evaluations) noexcept;

  const Verdict& verdict() const noexcept { return verdict_; }
  // Returns the evaluations that a finished trial made, exact ones and others, without the copy.
  int spent() const noexcept { return spent_; }
  // Returns the tasks including the new one, for a trial that fits.
  CoreTaskSet& task_set() noexcept { return task_set_; }

 private:
  CoreTaskSet task_set_;
  Verdict verdict_{};
  int owed_ = 0;  // evaluations for the copy, not yet subtracted
  int spent_ = 0;
  bool done_ = true;
};

}  // namespace corelane::sched
