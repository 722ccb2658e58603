// Tests what admission adds to budgets, and that proposals are free of it.
#include "orb/dispatch/budget_charge.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "orb/sched/admission_test.h"

namespace budget_charge_test {

using namespace corelane;
using namespace corelane::dispatch;
using namespace std::chrono_literals;

namespace {

// Returns leases of cores with these caches.
std::vector<CoreLease> leases_with(const std::vector<int>& caches) {
  std::vector<CoreLease> leases;
  for (const int cache : caches) {
    const auto number = static_cast<std::int16_t>(leases.size());
    leases.push_back({.core = CoreId{number}, .physical_core = number, .cache = cache});
  }
  return leases;
}

ExecutiveOptions charging_options() {
  ExecutiveOptions options;
  options.slowdowns = std::make_shared<const WorstSlowdowns>(
      std::vector<WorstSlowdowns::Pair>{{"vision", "control", 1'500'000}, {"vision", "./load", 1'200'000}});
  return options;
}

ExecutiveOptions spinning_options() {
  ExecutiveOptions options = charging_options();
  options.wait = {.mode = os::WaitMode::spin_then_park, .spin = 100us};
  return options;
}

BudgetCharge charge_of_two_cores(const ExecutiveOptions& options = charging_options()) {
  return BudgetCharge(options, leases_with({0, 0}));
}

Contract contract_of(Duration budget) { return make_contract(20ms, budget, 20ms, 0ms); }

Duration charged(const BudgetCharge& charge, const std::string& label, Duration budget) {
  Contract contract = contract_of(budget);
  CHECK_FALSE(charge.add_to(contract, label));
  return contract.budget;
}

// Returns the refusal of vision, which add_to() has charged, after a search that has found this contract.
sched::Refusal proposal(const BudgetCharge& charge, const Contract& contract, const sched::Nearest& found) {
  sched::Refusal refusal;
  charge.propose(refusal, found, contract, "vision");
  return refusal;
}

// Returns the budget of the proposal if the search has found this period and this charged budget.
Duration proposed_budget(const BudgetCharge& charge, const Contract& contract, Duration period, Duration budget) {
  return proposal(charge, contract, {.period = period, .deadline = period, .budget = budget}).nearest.budget;
}

}  // namespace

TEST_CASE("each other core of the largest cache counts with the worst factor") {
  const ExecutiveOptions options = charging_options();
  CHECK(charged(BudgetCharge(options, leases_with({0, 0})), "vision", 4ms) == 6ms);
  CHECK(charged(BudgetCharge(options, leases_with({0, 0, 0})), "vision", 4ms) == 8ms);
  CHECK(charged(BudgetCharge(options, leases_with({7, 3, 7, 3, 7})), "vision", 4ms) == 8ms);
  CHECK(charged(BudgetCharge(options, leases_with({0, 1, 2})), "vision", 4ms) == 4ms);
  CHECK(charged(BudgetCharge(options, leases_with({0})), "vision", 4ms) == 4ms);
  CHECK(BudgetCharge(options, {}).factor_of("vision") == unity.millionths);
  CHECK(BudgetCharge(options, leases_with({0, 0, 0})).factor_of("vision") == 2'000'000);
}

TEST_CASE("the setting of cache domains says which cores share a cache") {
  ExecutiveOptions options = charging_options();
  options.cache_domains = 2;
  CHECK(charged(BudgetCharge(options, leases_with({0, 0, 0})), "vision", 4ms) == 6ms);
}

TEST_CASE("a task without a table has its own budget, and so has every task without slowdowns") {
  CHECK(charged(charge_of_two_cores(), "control", 4ms) == 4ms);
  CHECK(charged(charge_of_two_cores(ExecutiveOptions{}), "vision", 4ms) == 4ms);
}

TEST_CASE("sections are slowed down like the rest of a job, but suspensions are not") {
  const BudgetCharge charge = charge_of_two_cores();
  Contract locking = contract_of(4ms);
  locking.uses[0] = use_of("bus", 1ms);
  CHECK_FALSE(charge.add_to(locking, "vision"));
  CHECK(locking.uses[0].longest == 1500us);
  CHECK(locking.uses[1].longest == 0ms);
  Contract sleeping = contract_of(4ms);
  sleeping.suspension = 2ms;
  CHECK_FALSE(charge.add_to(sleeping, "vision"));
  CHECK(sleeping.budget == 6ms);
  CHECK(sleeping.suspension == 2ms);
}

TEST_CASE("what a thread spins is added to the lengthened budget") {
  const BudgetCharge charge = charge_of_two_cores(spinning_options());
  CHECK(charged(charge, "vision", 4ms) == 6100us);
  CHECK(charged(charge, "control", 4ms) == 4100us);
}

TEST_CASE("a server that promises nothing charges no slowdowns") {
  ExecutiveOptions options = charging_options();
  options.admission_test = &sched::admission::none;
  CHECK(charged(charge_of_two_cores(options), "vision", 15ms) == 15ms);
}

TEST_CASE("a budget that slowdowns lengthen beyond the deadline is refused, and the refusal names them") {
  const BudgetCharge charge = charge_of_two_cores();
  Contract contract = contract_of(16ms);
  auto refusal = charge.add_to(contract, "vision");
  REQUIRE(refusal);
  CHECK(refusal->code == sched::RefusalCode::not_schedulable);
  CHECK(refusal->response == 24ms);
  charge.note_slowdown(*refusal, contract, "vision");
  CHECK(sched::text_of(*refusal) ==
        "a deadline would be missed on every core; it is analyzed with a budget of 24ms in place of 16ms: control on "
        "each other core of its cache slows it down by a factor of 1.5, which is an estimate (dispatch.slowdowns)");
}

TEST_CASE("a refusal that slowdowns have nothing to do with does not name them") {
  const BudgetCharge charge = charge_of_two_cores();
  Contract unsound = contract_of(0ms);
  auto bad = charge.add_to(unsound, "vision");
  REQUIRE(bad);
  CHECK(bad->code == sched::RefusalCode::bad_contract);
  charge.note_slowdown(*bad, unsound, "vision");
  CHECK(*bad == sched::Refusal{.code = sched::RefusalCode::bad_contract});
  Contract other = contract_of(4ms);
  CHECK_FALSE(charge.add_to(other, "control"));
  sched::Refusal full{.code = sched::RefusalCode::not_schedulable};
  charge.note_slowdown(full, other, "control");
  CHECK(full == sched::Refusal{.code = sched::RefusalCode::not_schedulable});
}

TEST_CASE("a proposal is the contract before the charge") {
  const BudgetCharge charge = charge_of_two_cores(spinning_options());
  Contract contract = contract_of(4'000'001ns);
  REQUIRE_FALSE(charge.add_to(contract, "vision"));
  // Only the period is another one.
  CHECK(proposed_budget(charge, contract, 40ms, contract.budget) == 4'000'001ns);
  CHECK(proposed_budget(charge, contract, 20ms, 3100us) == 2ms);
  CHECK(proposed_budget(charge, contract, 20ms, 2100us) == 1333us);  // four digits
  const sched::Refusal nothing = proposal(charge, contract, {.period = 20ms, .deadline = 20ms, .budget = 100us});
  CHECK_FALSE(nothing.nearest.found());
  CHECK(nothing.unproposed == sched::Unproposed::nothing_fits);
  CHECK(proposal(charge, contract, {}).unproposed == sched::Unproposed::nothing_fits);
}

TEST_CASE("no budget is proposed that is shorter than a section") {
  const BudgetCharge charge = charge_of_two_cores();
  Contract contract = contract_of(6ms);
  contract.uses[0] = use_of("bus", 1'333'700ns);
  REQUIRE_FALSE(charge.add_to(contract, "vision"));
  CHECK(proposed_budget(charge, contract, 20ms, 2'000'700ns) == 1'333'700ns);  // four digits would be 1333 us
  CHECK(proposed_budget(charge, contract, 20ms, 2ms) == 0ms);
}

}  // namespace budget_charge_test
