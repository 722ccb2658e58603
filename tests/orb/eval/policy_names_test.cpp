#include "orb/eval/policy_names.h"

#include <catch2/catch.hpp>

#include "orb/base/registry.h"

namespace policy_names_test {

using namespace corelane;
using namespace corelane::eval;

namespace {

PolicyNames names_under(const char* dispatcher, const Scenario& scenario) {
  return policy_names(*find_named(dispatchers(), dispatcher), scenario, {});
}

}  // namespace

TEST_CASE("the policies are those of the scenario, or those of a server if it names none") {
  Scenario scenario;
  CHECK(names_under("mc-orb", scenario) ==
        PolicyNames{.allocation = "worst-fit", .test = "response-time", .order = "arrival"});
  scenario.policy = {.allocation = "first-fit", .order = "decreasing-utilization", .test = "qpa"};
  CHECK(names_under("mc-orb", scenario) ==
        PolicyNames{.allocation = "first-fit", .test = "qpa", .order = "decreasing-utilization"});
}

TEST_CASE("a dispatcher that refuses no task has no test, and places tasks by its own rule") {
  Scenario scenario;
  scenario.policy = {.allocation = "first-fit", .test = "qpa"};
  CHECK(names_under("mc-orb*", scenario) == PolicyNames{.allocation = "worst-fit", .test = "none", .order = "arrival"});
  CHECK(names_under("leader-followers", scenario) ==
        PolicyNames{.allocation = "any core", .test = "none", .order = "arrival"});
}

}  // namespace policy_names_test
