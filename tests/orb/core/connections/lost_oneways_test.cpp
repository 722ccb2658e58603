// Tests a client whose oneways are lost because the server does not read.
#include <catch2/catch.hpp>
#include <string>

#include "orb/core/client/reference.h"
#include "orb/core/connections/address.h"
#include "tests/orb/transport/kinds.h"
#include "tests/support/probe_servant.h"
#include "tests/support/system/captured_errors.h"

namespace lost_oneways_test {

using namespace corelane;
using namespace corelane::testing;

TEMPLATE_TEST_CASE("oneways that are lost since their server takes nothing are told in the log", "", TcpV4,
                   UnixSocket) {
  const CapturedErrors errors;
  StreamHarness<TestType> server;  // does not read
  // timeout.flush: at its end the client must not wait for a server that never reads.
  TestOrb client({"-ORBTimeoutBacklog", "10ms", "-ORBTimeoutFlush", "1ms"});
  const giop::Ior ior{.type_id = "IDL:Probing/Probe:1.0",
                      .profiles = {core::profile_of({server.listener->endpoint()}, std::as_bytes(std::span("key")))}};
  const auto probe = core::make_stub<Probing::Probe>(std::make_shared<core::Reference>(client.orb.shared(), ior));
  const std::string much(1'000'000, 'x');
  for (int i = 0; i < 100 && errors.times("were lost") == 0; ++i) {  // more than half of limits.backlog
    try {
      probe->note(much);
    } catch (const CORBA::SystemException&) {
    }
  }
  CHECK(errors.times("oneways to " + transport::to_string(server.listener->endpoint()) +
                     " were lost: the connection was closed, because the peer read nothing") >= 1);
}

}  // namespace lost_oneways_test
