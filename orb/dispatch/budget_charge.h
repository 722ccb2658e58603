// BudgetCharge is what admission adds to the budget that a task asks for:
// - slowdowns: a task on another core of the same cache may slow this task down. D is the largest such factor that the
//   file of slowdowns has for this task, whether or not that other task is admitted (ExecutiveOptions::slowdowns). n is
//   the number of this process's cores that share a cache; if it has cores of several caches, the largest such number.
//   On each of the n - 1 other cores such a task counts as if it ran all the time. So the budget is multiplied by
//   D' = 1 + (n - 1) (D - 1). Sections are execution, so they are multiplied, too. The factors are estimates, never
//   bounds.
// - the time that the task's thread may spin after each job: spin_of() in executive.h.
// The analysis, and the thread that runs the jobs, use the charged budget. The task's client does not see the charge:
// if a refusal proposes a contract, its budget is the one without the charge.
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

// Returns whether a server with these options charges slowdowns. It does not if its admission test promises nothing.
bool charges_slowdowns(const ExecutiveOptions& options) noexcept;

class BudgetCharge {
 public:
  BudgetCharge(const ExecutiveOptions& options, const std::vector<CoreLease>& leases);

  // Returns D' of a task with this label, in millionths: 1,000,000 or more.
  std::int64_t factor_of(std::string_view label) const noexcept;
  // Lengthens the budget of a task with this label by slowdowns and spinning, and its sections by slowdowns.
  void lengthen(Contract& contract, std::string_view label) const noexcept;
  // Does the same. Returns a refusal if the contract was unsound before, or is unsound afterwards.
  std::optional<sched::Refusal> add_to(Contract& contract, std::string_view label) const noexcept;

  // Writes into the refusal which contract would fit, without the charge. `charged`: the contract that was refused,
  // after add_to(). `found`: the result of Manager::nearest() for it.
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
  std::int64_t others_ = 0;                            // n - 1; 0: nothing is charged
};

}  // namespace corelane::dispatch
