// Tests which options of an executive its Manager gets.
#include "orb/dispatch/manager_options.h"

#include <catch2/catch.hpp>

namespace manager_options_test {

using namespace corelane;
using namespace corelane::dispatch;

TEST_CASE("the Manager tries cores by the executive's allocation strategy") {
  ExecutiveOptions options;
  CHECK(manager_options(options, {}).allocation == sched::default_allocation_strategy());
  for (const auto* const strategy : sched::allocation_strategies()) {
    options.allocation = strategy;
    CHECK(manager_options(options, {}).allocation == strategy);
  }
}

}  // namespace manager_options_test
