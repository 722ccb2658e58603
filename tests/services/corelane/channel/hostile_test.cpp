// A peer repeatedly writes garbage into every word that it shares, while calls go through the channel. It may spoil
// only its own connection. CORELANE_SCRIBBLERS sets the number of such peers (6).
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>

#include "tests/support/modes.h"
#include "tests/support/peers/probe_peer.h"
#include "tests/support/probe_servant.h"
#include "tests/support/quiet.h"
#include "tests/support/system/from_environment.h"
#include "tests/support/system/temp_directory.h"

namespace channel_hostile_test {

using namespace corelane;
using namespace corelane::testing;

namespace {

std::uint64_t scribblers() { return from_environment("CORELANE_SCRIBBLERS", 6); }

// Options of a process that waits for replies which its own garbage prevents.
const std::vector<std::string> impatient{"-ORBTimeoutRequest", "10ms"};

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("clients that scribble over their channels spoil their own calls and the server serves the others") {
  const Quiet quiet;
  const TempDirectory directory;
  const std::string mode = GENERATE(every_mode());
  ProbeServer server({"-ORBEndpointListen", "channel:" + directory / "channel", "-ORBDispatchMode", mode});
  TestOrb other;
  const auto probe = probe_of(other, server.ior());
  REQUIRE(probe->add(1, 2) == 3);
  const std::string large(150'000, 'y');
  for (std::uint64_t seed = 0; seed < scribblers() / 2; ++seed) {
    ProbePeer client(with({"call", server.ior(), "30", "--scribble", std::to_string(seed)}, impatient));
    for (std::int32_t i = 0; i < 100; ++i) REQUIRE(probe->add(i, 1) == i + 1);
    REQUIRE(probe->echo(large) == large);
    client.end();  // ignores how it ended: its own garbage may have ended it
    REQUIRE(probe->add(1, 2) == 3);
  }
}

TEST_CASE("a process outlives servers that scribble over its channels and calls others") {
  const Quiet quiet;
  const TempDirectory directory;
  ProbeServer honest({"-ORBEndpointListen", "channel:" + directory / "honest"});
  TestOrb patient;
  for (std::uint64_t seed = 0; seed < scribblers() / 2; ++seed) {
    TestOrb client(impatient);
    ProbePeer server({"serve", directory / "book", "--scribble", std::to_string(seed), "-ORBEndpointListen",
                      "channel:" + directory / "hostile"});
    const auto hostile = probe_of(client, server.reference());
    bool ended = false;
    for (std::int32_t i = 1; i <= 50 || !ended; ++i) try {
        (void)hostile->add(i, 1);
        (void)hostile->echo(std::string(50'000, 'z'));
      } catch (const CORBA::Exception&) {
        ended = true;
      }
    CHECK(probe_of(patient, honest.ior())->add(1, 2) == 3);
    server.kill_now();
  }
}

}  // namespace channel_hostile_test
