// The programs on README.md's first screen: they are what README.md says, and they do what it says.
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "orb/os/child_process.h"

using corelane::os::ChildProcess;
using corelane::os::program_beside;

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
  ChildProcess server(
      {program_beside("corelane-quickstart-server"), "-ORBRuntimeLedger", "off", "-ORBPoolRealTime", "off"});
  const std::string reference = server.read_line().value_or("");
  REQUIRE(reference.substr(0, 4) == "IOR:");
  ChildProcess client({program_beside("corelane-quickstart-client"), reference});
  CHECK(client.read_line() == "-2");
}
