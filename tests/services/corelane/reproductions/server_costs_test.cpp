#include "services/corelane/reproductions/server_costs.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <vector>

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

TEST_CASE("an overhead that grows linearly is told from one that falls or stays") {
  const auto holds = [](std::vector<std::string> overheads) {
    ExperimentValues values;
    for (const std::string& overhead : overheads) values.push_back({overhead, "60", "400"});
    return server_counts.holds(values);
  };
  CHECK(holds({"1.1", "1.9", "3.2", "4.0", "4.9", "6.1"}));
  CHECK(!holds({"4.11", "2.28", "1.00", "0.07", "0.16", "0.04"}));
  CHECK(!holds({"1.0", "1.0", "1.0", "1.0", "1.0", "1.0"}));
}

}  // namespace server_costs_test
