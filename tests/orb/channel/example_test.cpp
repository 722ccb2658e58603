// Runs the example of channels as its first lines say.
#include <catch2/catch.hpp>

#include "orb/os/clock.h"
#include "orb/os/process/child_process.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::testing;

namespace {

const std::string program = os::program_beside("corelane-channel-example");

Time patience() { return os::now() + std::chrono::seconds{60}; }

}  // namespace

TEST_CASE("the example says how it is used, on standard output where it is asked") {
  os::ChildProcess asked({program, "--help"}, {.joins_errors = false});
  CHECK(asked.read_all(patience()) == "usage: corelane-channel-example serve PATH | add PATH NUMBER...\n");
  CHECK(asked.wait(patience())->text() == "exit status 0");
  os::ChildProcess wrong({program, "serve"});
  CHECK(wrong.wait(patience())->text() == "exit status 2");
}

TEST_CASE("the example's client gets the sums, and its server is told of the client's end") {
  const TempDirectory directory;
  const std::string path = directory / "sum.channel";
  os::ChildProcess server({program, "serve", path});
  std::optional<std::string> sums;
  // Bound: the patience. The server may not listen yet.
  for (const Time end = patience(); os::now() < end && sums.value_or("").empty();) {
    os::ChildProcess client({program, "add", path, "1", "2", "3.5"}, {.joins_errors = false});
    sums = client.read_all(patience());
    client.wait(patience());
  }
  CHECK(sums == "1\n3\n6.5\n");
  const auto last = server.read_all(patience());
  REQUIRE(last);
  CHECK(last->find("the peer closed the channel") != std::string::npos);
  CHECK(server.wait(patience())->ok());
  CHECK(directory.entries() == 0);
}
