#include "orb/sched/admission/feasible_contract_search.h"

#include <algorithm>

#include "orb/sched/refusal.h"
#include "orb/sched/schedulers/core_scheduler.h"

namespace corelane::sched {
namespace {

constexpr std::int64_t widest_stretch = 1000;  // T' <= 1000 T

Contract stretched(Contract c, Ticks period) noexcept {
  const Wide deadline = Wide{c.deadline.count()} * period / c.period.count();
  c.period = Duration{period};
  c.deadline = Duration{static_cast<Ticks>(std::min<Wide>(deadline, longest_period.count()))};
  return c;
}

}  // namespace

FeasibleContractSearch::FeasibleContractSearch(const Placement& placement) : placement_(placement) {
  trial_.reserve(placement.members());
}

void FeasibleContractSearch::begin(const Contract& contract) noexcept {
  contract_ = contract;
  restarts_ = 0;
  start_over();
}

void FeasibleContractSearch::start_over() noexcept {
  epoch_ = placement_.epoch();
  answer_ = {};
  try_field(is_sound(contract_) && backlog_fits(contract_) ? Field::as_is : Field::none);
}

std::optional<Nearest> FeasibleContractSearch::step(int evaluations) noexcept {
  while (field_ != Field::none) {
    if (epoch_ != placement_.epoch()) {
      if (++restarts_ > max_restarts) return Nearest{};
      start_over();
      continue;
    }
    const auto fits = fits_somewhere(evaluations);
    if (!fits) return std::nullopt;
    conclude(*fits);
  }
  return answer_;
}

Contract FeasibleContractSearch::changed(Ticks x) const noexcept {
  if (field_ == Field::rounding) return rounded_;
  Contract c = contract_;
  if (field_ == Field::period) return stretched(c, x);
  if (field_ == Field::deadline) c.deadline = Duration{x};
  if (field_ == Field::budget) c.budget -= Duration{x};
  return c;
}

// Starts with the widest change of the field. If even that does not fit, tries the next field.
void FeasibleContractSearch::try_field(Field field) noexcept {
  field_ = field;
  bracketed_ = false;
  const Contract& c = contract_;
  if (field == Field::as_is) return ask(0);
  if (field == Field::period) {
    fails_ = c.period.count();
    fits_ = std::min(c.period.count() * widest_stretch, longest_period.count());
  }
  if (field == Field::deadline) {
    fails_ = c.deadline.count();
    fits_ = std::min(c.period.count() * static_cast<Ticks>(max_waiting) - c.jitter.count(), longest_period.count());
  }
  if (field == Field::budget) {
    fails_ = 0;
    fits_ = c.budget.count() - 1;
  }
  if (field == Field::none) return;
  if (fits_ <= fails_) return try_field(static_cast<Field>(static_cast<int>(field) + 1));
  ask(fits_);
}

void FeasibleContractSearch::ask(Ticks x) noexcept {
  asked_ = x;
  demand_ = demand_of(changed(x), placement_.last_age() + 1, placement_.options().charge_overruns);
  bound_ = placement_.core_of_users(demand_, candidate_slot);
  core_ = 0;
  trying_ = false;
}

// Returns whether the contract in question fits on a core, or nothing if the evaluations are used up. Bound: the number
// of cores.
std::optional<bool> FeasibleContractSearch::fits_somewhere(int& evaluations) noexcept {
  const Contract c = changed(asked_);
  if (!is_sound(c) || !backlog_fits(c)) return false;
  for (; core_ < placement_.cores().size(); ++core_) {
    if (!trying_) {
      if (evaluations <= 0) return std::nullopt;
      if (!begin_trial()) continue;
    }
    if (!trial_.step(evaluations)) return std::nullopt;
    trying_ = false;
    if (trial_.verdict().fits) return true;
  }
  return false;
}

// Starts the analysis on the current core. Returns false if the core cannot take the task.
bool FeasibleContractSearch::begin_trial() noexcept {
  const Core& core = placement_.cores()[core_];
  if (core.lost || (bound_ && *bound_ != static_cast<int>(core_))) return false;
  placement_.begin(trial_, core.task_set, core, candidate_slot, demand_, {.bounds_first = true});
  return trying_ = true;
}

// Uses the answer for asked_, and then asks the next question or ends.
void FeasibleContractSearch::conclude(bool fits) noexcept {
  if (field_ == Field::rounding) return end(fits ? rounded_ : exact_);
  if (!bracketed_ && !fits) return try_field(static_cast<Field>(static_cast<int>(field_) + 1));
  if (field_ != Field::as_is) {
    (fits ? fits_ : fails_) = asked_;
    bracketed_ = true;
    if (fits_ - fails_ > 1) return ask(fails_ + (fits_ - fails_) / 2);
  }
  propose(changed(fits_));
}

// Rounds the contract to few digits for the reader. The rounded contract is analyzed, too, because a longer period or a
// later deadline changes the order of priorities.
void FeasibleContractSearch::propose(const Contract& exact) noexcept {
  exact_ = rounded_ = exact;
  if (field_ == Field::period) rounded_.period = rounded(exact.period, Rounding::up);
  if (field_ == Field::period || field_ == Field::deadline) rounded_.deadline = rounded(exact.deadline, Rounding::up);
  if (field_ == Field::budget) rounded_.budget = rounded(exact.budget, Rounding::down);
  if (rounded_ == exact_) return end(exact_);
  field_ = Field::rounding;
  ask(0);
}

void FeasibleContractSearch::end(const Contract& fitting) noexcept {
  answer_ = {fitting.period, fitting.deadline, fitting.budget, fitting.jitter, fitting.suspension};
  field_ = Field::none;
}

}  // namespace corelane::sched
