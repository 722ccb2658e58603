// BudgetCharge is what admission adds to the budget that a task asks for:
// - slowdowns: the largest factor D by which another task on another core of its cache may slow the task down
//   (ExecutiveOptions::slowdowns). Each of the other cores of the largest cache counts as if such a task ran there all
//   the time. So the budget is multiplied by 1 + (n - 1) (D - 1), where n is the number of this process's cores there.
//   A section is execution, so it is multiplied, too. The factors are estimates, never bounds.
// - what the task's thread may spin after each job, see spin_of().
// The analysis, and the thread that runs the jobs, have the charged budget. The task's client does not see the charge:
// a contract that a refusal proposes is one before it.
//
// Servers and experiments in virtual time charge by the same class, so they admit the same tasks.
//
// Threads: constant after construction. Only the constructor allocates.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/fraction.h"
#include "orb/base/time.h"
#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/executive.h"
#include "orb/dispatch/worst_slowdowns.h"
#include "orb/sched/refusal.h"

namespace corelane::dispatch {

// Returns whether a server with these options charges slowdowns. One that promises nothing does not.
bool charges_slowdowns(const ExecutiveOptions& options) noexcept;

class BudgetCharge {
 public:
  BudgetCharge(const ExecutiveOptions& options, const std::vector<CoreLease>& leases);

  // Returns the factor of the slowdowns of a task with this label, in millionths. It is 1 or more.
  std::int64_t factor_of(std::string_view label) const noexcept;
  // Lengthens the budget and the sections of a task with this label.
  void lengthen(Contract& contract, std::string_view label) const noexcept;
  // Does the same. Returns a refusal if the contract is unsound, or becomes so.
  std::optional<sched::Refusal> add_to(Contract& contract, std::string_view label) const noexcept;

  // Adds the result of Manager::nearest() for a contract that add_to() has charged. The refusal proposes a contract
  // before that charge.
  void propose(sched::Refusal& refusal, const sched::Nearest& found, const Contract& charged,
               std::string_view label) const noexcept;
  // Say in the refusal which slowdown has lengthened the budget, if one has: that of the new task, or that of the task
  // that would be late. `charged`: its contract, which add_to() has charged.
  void note_slowdown(sched::Refusal& refusal, const Contract& charged, std::string_view label) const noexcept;
  void note_loser_slowdown(sched::Refusal& refusal, const Contract& charged, std::string_view label) const noexcept;

 private:
  Duration without(Duration budget, std::int64_t factor) const noexcept;
  sched::SlowedBudget slowed_budget(const Contract& charged, std::string_view label) const noexcept;

  const Duration spin_;
  std::shared_ptr<const WorstSlowdowns> slowdowns_{};  // null: none
  std::int64_t others_ = 0;                            // n - 1
};

}  // namespace corelane::dispatch
