#include "orb/base/minor.h"
#include "tests/support/probe_servant.h"

using namespace corelane::testing;

TEST_CASE("a call over TCP reaches the servant and brings back its result") {
  ProbeServer server;
  TestOrb client;
  const auto probe = probe_of(client, server.ior());
  REQUIRE(probe);
  probe->ping();
  CHECK(server.servant->pings == 1);
  CHECK(probe->add(20, 22) == 42);
}

TEST_CASE("a request above limits.message_size fails alone and leaves its connection to the others") {
  ProbeServer server;
  TestOrb client({"-ORBLimitsMessageSize", "4096"});
  const auto probe = probe_of(client, server.ior());
  CHECK(probe->echo(std::string(2048, 'x')).size() == 2048);
  try {
    probe->echo(std::string(4096, 'x'));
    FAIL("it was sent");
  } catch (const CORBA::IMP_LIMIT& refusal) {
    CHECK(refusal.minor() == corelane::minor::message_too_large);
    CHECK(refusal.completed() == CORBA::COMPLETED_NO);
    CHECK(refusal.detail() ==
          "the request for echo has more than 4096 bytes, and limits.message_size of this client is 4096");
  }
  CHECK(probe->add(20, 22) == 42);
}
