// The programs on README.md's first screen: they are what README.md says, and they do what it says.
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "tests/interop/child.h"

using corelane::test::Child;
using corelane::test::program;

namespace {

std::string contents(const std::string& path) {
  std::ifstream file(std::string(CORELANE_SOURCE) + "/" + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("README.md shows the quickstart as it is built") {
  const std::string readme = contents("README.md");
  for (const std::string file : {"plant.idl", "server.cpp", "client.cpp"}) {
    const std::string code = contents("examples/quickstart/" + file);
    REQUIRE_FALSE(code.empty());
    INFO(file);
    CHECK(readme.find("\n" + code + "```") != std::string::npos);
  }
}

TEST_CASE("the quickstart's client is admitted and gets its answer") {
  Child server({program("corelane-quickstart-server"), "-ORBRuntimeLedger", "off", "-ORBPoolRealTime", "off"});
  const std::string reference = server.read_line();
  REQUIRE(reference.substr(0, 4) == "IOR:");
  Child client({program("corelane-quickstart-client"), reference});
  CHECK(client.read_line() == "-2");
}
