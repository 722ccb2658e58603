// FeasibleContractSearch finds a contract that would fit in place of a refused one, without moving other tasks. It
// first tries the contract again as it is. Then it changes one thing, the first that helps, as little as it can:
// - a longer period T (at most 1000 T), with the same C and D/T;
// - a longer deadline D;
// - a smaller budget C.
// The result is rounded to few digits.
//
// The search needs several hundred analyses per core. So it works in pieces: each step() makes as many evaluations as
// the caller allows. One evaluation is a sum over the tasks of a core. The tables are only read. Every change of them
// increments Placement::epoch(), and then the search starts again, at most max_restarts times.
//
// Threads: as Manager. Nothing allocates after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "orb/sched/admission/core_task_set.h"
#include "orb/sched/admission/placement.h"
#include "orb/sched/admission/trial.h"

namespace corelane::sched {

class FeasibleContractSearch {
 public:
  static constexpr int max_restarts = 8;  // after so many restarts the answer is "nothing found"

  explicit FeasibleContractSearch(const Placement& placement);

  void begin(const Contract& contract) noexcept;
  // Continues the search. Returns the answer, or nothing if the search has not ended: call it again.
  std::optional<Nearest> step(int evaluations) noexcept;

 private:
  // The field that is changed. `as_is` is the refused contract itself; `rounding` is the answer with fewer digits.
  enum class Field : std::uint8_t { as_is, period, deadline, budget, none, rounding };

  Contract changed(Ticks x) const noexcept;
  void start_over() noexcept;
  void try_field(Field field) noexcept;
  void ask(Ticks x) noexcept;
  std::optional<bool> fits_somewhere(int& evaluations) noexcept;
  bool begin_trial() noexcept;
  void conclude(bool fits) noexcept;
  void propose(const Contract& exact) noexcept;
  void end(const Contract& fitting) noexcept;

  const Placement& placement_;
  Trial trial_;
  Contract contract_{};
  std::uint64_t epoch_ = 0;
  int restarts_ = 0;

  // The search looks for the least x in (fails_, fits_] for which the changed contract fits. x is the new period, the
  // new deadline, or the reduction of the budget. If the test is not monotonic, it finds some x that fits.
  Field field_ = Field::none;
  bool bracketed_ = false;  // fits_ is known to fit
  Ticks fails_ = 0;
  Ticks fits_ = 0;
  Ticks asked_ = 0;               // the x that is analyzed now
  Contract exact_{}, rounded_{};  // for Field::rounding: the contract that fits, and the rounded one

  // The current question: does asked_ fit on one of the cores from index core_ on?
  Demand demand_;
  std::optional<int> bound_;  // the core of the tasks that use the same resources
  std::size_t core_ = 0;
  bool trying_ = false;  // trial_ is in progress
  Nearest answer_{};
};

}  // namespace corelane::sched
