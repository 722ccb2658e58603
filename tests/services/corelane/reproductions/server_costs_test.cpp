#include "services/corelane/reproductions/server_costs.h"

#include <catch2/catch.hpp>
#include <chrono>

#include "services/corelane/reproductions/experiment.h"

namespace server_costs_test {

using namespace corelane;
using namespace corelane::tool;
using namespace corelane::tool::reproductions;
using namespace std::chrono_literals;

TEST_CASE("a flood preempts others less often under an I/O server than under a sporadic one") {
  const std::uint64_t sporadic = preemptions_in_flood(sporadic_flood_server(), 1s);
  const std::uint64_t io = preemptions_in_flood(io_flood_server(), 1s);
  CHECK(io > 0);
  CHECK(io < sporadic);
}

TEST_CASE("the cost of each server is measured, and is not zero") {
  const auto values = server_costs.run({.length = 10ms});
  REQUIRE(values);
  REQUIRE(values->size() == 2);
  for (const auto& row : *values) CHECK(std::stod(row[0]) > 0);
}

}  // namespace server_costs_test
