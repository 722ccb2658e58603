// Tests that the log names the first operations that are refused, and counts the others.
#include "orb/core/contracts/refused_contracts.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/support/probe_servant.h"
#include "tests/support/system/captured_errors.h"
#include "tests/support/system/temp_directory.h"

namespace refused_contracts_test {

using namespace corelane;
using namespace corelane::core;
using namespace corelane::testing;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

// Returns how many lines the given number of refusals at one instant makes.
std::size_t lines_of(RefusedContracts& contracts, int refusals, Time now) {
  std::size_t lines = 0;
  for (int i = 0; i < refusals; ++i)
    lines += contracts.note("Plant/step" + std::to_string(i), "line " + std::to_string(i), now).size();
  return lines;
}

}  // namespace

TEST_CASE("the first refused operations have lines of their own, and the others one line together") {
  RefusedContracts contracts;
  CHECK(lines_of(contracts, RefusedContracts::most, Time{1s}) == RefusedContracts::most);
  CHECK_FALSE(contracts.rest());
  CHECK(lines_of(contracts, 20'000, Time{2s}) == 0);
  const auto rest = contracts.rest();
  REQUIRE(rest);
  CHECK_THAT(*rest, Contains("20000 more operations are") && Contains("the last of them Plant/step19999;"));
  CHECK_FALSE(contracts.rest());
}

TEST_CASE("later refusals have lines again, behind a line for those before") {
  RefusedContracts contracts;
  lines_of(contracts, RefusedContracts::most + 1, Time{1s});
  CHECK(contracts.note("a", "line", Time{1s} + RefusedContracts::window - 1ns).empty());
  const auto lines = contracts.note("b", "line of b", Time{1s} + RefusedContracts::window);
  REQUIRE(lines.size() == 2);
  CHECK_THAT(lines[0], Contains("2 more operations are"));
  CHECK(lines[1] == "line of b");
  CHECK_FALSE(contracts.rest());
}

TEST_CASE("a single one that was not said is counted as one") {
  RefusedContracts contracts;
  lines_of(contracts, RefusedContracts::most + 1, Time{1s});
  CHECK_THAT(contracts.rest().value(), Contains("1 more operation is"));
}

TEST_CASE("a server with many objects whose contracts do not fit has few lines in its log") {
  constexpr int objects = 40;
  TempDirectory directory;
  const std::string path = directory / "contracts.toml";
  std::ofstream(path) << "[\"" << Probing::Probe::_id << "\".add]\nperiod = \"50ms\"\nbudget = \"50ms\"\n";
  (void)refused_contracts().rest();
  const CapturedErrors log;
  {
    TestOrb server({"-ORBContractsFile", path, "-ORBLogLevel", "warn"});
    std::vector<CORBA::servant_reference<ProbeServant>> servants;
    for (int i = 0; i < objects; ++i) {
      servants.push_back(CORBA::make_reference<ProbeServant>());
      (void)server.root()->servant_to_reference(servants.back());
    }
    CHECK(log.times("is not admitted and its calls are refused") <= RefusedContracts::most);
    CHECK(log.times("more operations are not admitted") == 0);
    server->run(1ns);
    CHECK(log.times("more operations are not admitted") == 1);
  }
  CHECK(log.times("refused like those above, the last of them Probing/Probe.add;") >= 1);
}

}  // namespace refused_contracts_test
