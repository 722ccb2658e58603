// Trial: whether a core holds all deadlines with one task more; in pieces. What is tried stays apart until it is taken
// over: see Placement::charge().
//
// Threads: as Manager. Nothing allocates once reserve() has been called.
#pragma once

#include <cstddef>
#include <cstdint>

#include "orb/sched/roster.h"

namespace corelane::sched {

class Trial {
 public:
  void reserve(std::size_t members) { roster_.reserve(members); }

  // Of `base` on the core of `model` with the task `slot` too. `model` outlives the trial.
  void begin(const CoreModel& model, const Roster& base, std::uint32_t slot, const Demand& demand, AdmissionTest test,
             int levels, const Effort& effort) noexcept;
  // As Roster::step(); the copy of the roster counts, too.
  bool step(int& evaluations) noexcept;

  const Verdict& verdict() const noexcept { return verdict_; }
  // Evaluations of a trial that has ended, for `effort` and beyond; without the copy.
  int spent() const noexcept { return spent_; }
  // Everybody with the task, of a trial that fits.
  Roster& roster() noexcept { return roster_; }

 private:
  Roster roster_;
  Verdict verdict_{};
  int owed_ = 0;  // evaluations, for the copy
  int spent_ = 0;
  bool done_ = true;
};

}  // namespace corelane::sched
