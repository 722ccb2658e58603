// Explainer: what would fit instead of a contract that was refused, without moving anybody: the smallest T' >= T (at
// most 1000 T) with C and D/T kept, else the smallest D', else the largest C'.
//
// That takes some hundred analyses per core, so it goes in pieces of as many evaluations as the caller allows; one is a
// sum over the tasks of a core. The tables are read as they are: what changes them counts up Placement::epoch(), and
// the search then starts over, a few times at most.
//
// Threads: as Manager. Nothing allocates after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "orb/sched/placement.h"
#include "orb/sched/roster.h"
#include "orb/sched/trial.h"

namespace corelane::sched {

class Explainer {
 public:
  static constexpr int max_restarts = 8;  // then it answers that nothing was found

  explicit Explainer(const Placement& placement);

  void begin(const Contract& contract) noexcept;
  // The answer, or nothing: call again.
  std::optional<Nearest> step(int evaluations) noexcept;

 private:
  // What is varied; `as_is` is the contract itself, `rounding` the answer with fewer digits.
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

  // The least x in (fails_, fits_] for which the changed contract fits is looked for; where that is not monotonic, some
  // x that does.
  Field field_ = Field::none;
  bool bracketed_ = false;  // fits_ does fit
  Ticks fails_ = 0;
  Ticks fits_ = 0;
  Ticks asked_ = 0;               // the x in question
  Contract exact_{}, rounded_{};  // of Field::rounding: what fits, and what is asked about

  // The question: asked_ on cores_[core_ ..].
  Demand demand_;
  std::optional<int> bound_;  // to the core of those who share its resources
  std::size_t core_ = 0;
  bool trying_ = false;  // trial_ is being analysed
  Nearest answer_{};
};

}  // namespace corelane::sched
