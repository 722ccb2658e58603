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

TEST_CASE("the Manager uses the executive's admission test") {
  ExecutiveOptions options;
  CHECK(manager_options(options, {}).test == &sched::admission::response_time);
  for (const auto* const test : sched::admission_tests()) {
    options.admission_test = test;
    CHECK(manager_options(options, {}).test == test);
  }
}

TEST_CASE("with a test for cores by deadlines all cores run by deadlines") {
  ExecutiveOptions options;
  const std::vector<CoreLease> leases{{.core = CoreId{0}, .physical_core = 0}, {.core = CoreId{1}, .physical_core = 1}};
  options.deadline_cores = {CoreId{1}};
  CHECK(manager_options(options, leases).cores[0].order == sched::CoreOrder::priority);
  CHECK(manager_options(options, leases).cores[1].order == sched::CoreOrder::deadline);
  options.admission_test = &sched::admission::processor_demand;
  for (const sched::CoreOptions& core : manager_options(options, leases).cores)
    CHECK(core.order == sched::CoreOrder::deadline);
}

TEST_CASE("the cores have the caches of their leases unless a setting divides them") {
  ExecutiveOptions options;
  std::vector<CoreLease> leases;
  for (const std::int16_t core : {std::int16_t{3}, std::int16_t{0}, std::int16_t{1}, std::int16_t{2}, std::int16_t{4}})
    leases.push_back({.core = CoreId{core}, .cache = 10 + core});
  const auto caches = [&] {
    std::vector<int> found;
    for (const sched::CoreOptions& core : manager_options(options, leases).cores) found.push_back(core.cache);
    return found;
  };
  CHECK(caches() == std::vector{13, 10, 11, 12, 14});
  options.cache_domains = 2;
  CHECK(caches() == std::vector{1, 0, 0, 0, 1});
  options.cache_domains = 5;
  CHECK(caches() == std::vector{3, 0, 1, 2, 4});
}

TEST_CASE("a peer may hold half of the cores unless nothing is promised") {
  ExecutiveOptions options;
  const std::vector<CoreLease> leases{{.core = CoreId{0}, .physical_core = 0}, {.core = CoreId{1}, .physical_core = 1}};
  CHECK(manager_options(options, leases).peer_limit == options.capacity);
  options.admission_test = &sched::admission::none;
  CHECK(manager_options(options, leases).peer_limit == 0);
}

}  // namespace manager_options_test
