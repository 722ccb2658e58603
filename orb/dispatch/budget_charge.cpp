#include "orb/dispatch/budget_charge.h"

#include <algorithm>
#include <map>

#include "orb/dispatch/manager_options.h"

namespace corelane::dispatch {
namespace {

// Returns how many of these cores share one cache, for the cache that most of them share; 0 without cores.
std::int64_t cores_of_largest_cache(const std::vector<sched::CoreOptions>& cores) {
  std::map<int, std::int64_t> count;
  for (const sched::CoreOptions& core : cores) ++count[core.cache];
  std::int64_t most = 0;
  for (const auto& [cache, sharing] : count) most = std::max(most, sharing);
  return most;
}

// Returns whether the refusal depends on how long the budget is.
bool depends_on_budget(const sched::Refusal& refusal) noexcept {
  using enum sched::RefusalCode;
  return refusal.code == not_schedulable || refusal.code == other_process_late ||
         (refusal.code == peer_limit && refusal.peer_may > 0);
}

}  // namespace

bool charges_slowdowns(const ExecutiveOptions& options) noexcept {
  return options.slowdowns != nullptr && options.admission_test->promises;
}

BudgetCharge::BudgetCharge(const ExecutiveOptions& options, const std::vector<CoreLease>& leases)
    : spin_(spin_of(options)) {
  if (!charges_slowdowns(options)) return;
  slowdowns_ = options.slowdowns;
  others_ = std::max<std::int64_t>(cores_of_largest_cache(manager_options(options, leases).cores) - 1, 0);
}

std::int64_t BudgetCharge::factor_of(std::string_view label) const noexcept {
  if (!slowdowns_) return unity.millionths;
  return unity.millionths + others_ * (slowdowns_->of(label).factor - unity.millionths);
}

void BudgetCharge::lengthen(Contract& contract, std::string_view label) const noexcept {
  if (const std::int64_t factor = factor_of(label); factor != unity.millionths) {
    contract.budget = slowed(contract.budget, factor);
    for (ResourceUse& use : contract.uses) use.longest = slowed(use.longest, factor);
  }
  contract.budget += spin_;
}

std::optional<sched::Refusal> BudgetCharge::add_to(Contract& contract, std::string_view label) const noexcept {
  if (!is_sound(contract)) return sched::Refusal{.code = sched::RefusalCode::bad_contract};
  lengthen(contract, label);
  if (is_sound(contract)) return std::nullopt;
  return sched::Refusal{.code = sched::RefusalCode::not_schedulable,
                        .response = contract.budget + contract.suspension,
                        .deadline = contract.deadline};
}

// Returns the budget before lengthen().
Duration BudgetCharge::without(Duration budget, std::int64_t factor) const noexcept {
  return without_slowdown(budget - std::min(budget, spin_), factor);
}

void BudgetCharge::propose(sched::Refusal& refusal, const sched::Nearest& found, const Contract& charged,
                           std::string_view label) const noexcept {
  const std::int64_t factor = factor_of(label);
  Duration least{1};  // a budget may not be shorter than a section
  for (const ResourceUse& use : charged.uses) least = std::max(least, without_slowdown(use.longest, factor));
  sched::Nearest& nearest = refusal.nearest = found;
  nearest.budget = without(found.budget, factor);
  // If the search has changed the budget, it has rounded it to few digits. The division by the factor makes many digits
  // of them again, so the result is rounded, too.
  if (factor != unity.millionths && found.budget != charged.budget)
    nearest.budget = std::max(std::min(least, nearest.budget), sched::rounded(nearest.budget, sched::Rounding::down));
  if (nearest.budget < least) nearest = {};
  if (!nearest.found()) refusal.unproposed = sched::Unproposed::nothing_fits;
}

void BudgetCharge::note_slowdown(sched::Refusal& refusal, const Contract& charged,
                                 std::string_view label) const noexcept {
  if (depends_on_budget(refusal)) refusal.slowed = slowed_budget(charged, label);
}

void BudgetCharge::note_loser_slowdown(sched::Refusal& refusal, const Contract& charged,
                                       std::string_view label) const noexcept {
  if (depends_on_budget(refusal)) refusal.loser_slowed = slowed_budget(charged, label);
}

sched::SlowedBudget BudgetCharge::slowed_budget(const Contract& charged, std::string_view label) const noexcept {
  const std::int64_t factor = factor_of(label);
  if (factor == unity.millionths) return {};
  const WorstSlowdowns::Worst& worst = slowdowns_->of(label);
  sched::SlowedBudget slowed{
      .asked = without(charged.budget, factor), .analyzed = charged.budget - spin_, .factor = worst.factor};
  sched::name_beside(slowed, worst.beside);
  return slowed;
}

}  // namespace corelane::dispatch
