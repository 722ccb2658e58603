// Tests what clients and servers of other ORBs expect of this one.
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "orb/base/minor.h"
#include "orb/giop/code_sets.h"
#include "orb/giop/headers.h"
#include "tests/orb/transport/kinds.h"
#include "tests/support/modes.h"
#include "tests/support/peers/bare_wire.h"
#include "tests/support/probe_servant.h"
#include "tests/support/quiet.h"
#include "tests/support/system/temp_directory.h"

namespace other_orbs_test {

using namespace corelane;
using namespace corelane::testing;

TEST_CASE("every object answers that there is no interface repository") {
  const giop::Version version = GENERATE(giop::giop_1_0, giop::giop_1_1, giop::giop_1_2);
  ProbeServer server;
  Wires wires;
  Wire wire(wires, server.orb->endpoints().front());
  const std::vector<std::byte> key = server.key();
  cdr::Writer writer;
  begin_request(writer, 1, key, "_interface", version);
  REQUIRE(wire.send(writer));
  const auto message = wire.next();
  REQUIRE(message);
  auto reply = giop::parse_reply(*message, {});
  REQUIRE(reply);
  REQUIRE(reply->header.status == giop::ReplyStatus::system_exception);
  CHECK(*giop::decode_system_exception(reply->body) == Error{ErrorKind::intf_repos, Completion::no, minor::omg | 1});
}

// Without CloseConnection, the client could not know whether a call that it sends at this instant has run.
TEMPLATE_TEST_CASE("an idle connection is ended with CloseConnection in each mode", "", TcpV4, UnixSocket,
                   SharedMemory) {
  const Quiet quiet;
  const std::string mode = GENERATE(every_mode());
  const bool called = GENERATE(false, true);
  ProbeServer server({"-ORBDispatchMode", mode, "-ORBTimeoutIdle", "20ms", "-ORBEndpointListen",
                      transport::to_string(TestType::anywhere())});
  const auto reactor = std::move(*transport::Reactor::start());
  const auto wires = TestType::make(*reactor, {});
  Wire wire(std::move(*wires->connect(server.orb->endpoints().front(), os::now() + long_enough)));
  cdr::Writer writer;
  begin_request(writer, 1, server.key(), "ping");
  auto message = called && wire.send(writer) ? wire.next() : std::nullopt;
  if (!message || message->header.type == giop::MessageType::reply) message = wire.next();
  REQUIRE(message);
  CHECK(message->header.type == giop::MessageType::close_connection);
  CHECK(wire.closed_by_peer());
}

TEST_CASE("completion is told by the standard's names, inside the enumeration too") {
  const CORBA::BAD_PARAM exception(1, CORBA::CompletionStatus::COMPLETED_NO);
  CHECK(exception.completed() == CORBA::COMPLETED_NO);
  CHECK(CORBA::CompletionStatus::COMPLETED_YES == CORBA::COMPLETED_YES);
  CHECK(CORBA::CompletionStatus::COMPLETED_MAYBE == CORBA::COMPLETED_MAYBE);
}

// TAO makes such references to servers that listen only at a Unix socket.
TEST_CASE("a reference that has nothing but a UIOP profile leads to its socket") {
  const std::uint8_t version = GENERATE(std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{2});
  const TempDirectory directory;
  const std::string path = directory / "uiop.sock";
  ProbeServer server({"-ORBEndpointListen", "unix:" + path});
  cdr::Writer writer;
  writer.write_order();
  writer.write(std::uint8_t{1});
  writer.write(version);
  writer.write_string(path);
  writer.write_octets(server.key());
  if (version > 0) {
    writer.write(std::uint32_t{1});
    const giop::TaggedComponent sets = giop::make_code_sets(giop::our_code_sets());
    writer.write(sets.tag);
    writer.write_octets(sets.data);
  }
  const giop::Ior ior{.type_id = Probing::Probe::_id,
                      .profiles = {giop::Tagged{giop::profile::tao_uiop, writer.to_vector()}}};
  TestOrb client;
  const auto probe = probe_of(client, giop::to_string(ior));
  REQUIRE(probe);
  CHECK(probe->add(40, 2) == 42);
  CHECK(probe->echo("caf\xc3\xa9") == "caf\xc3\xa9");
}

}  // namespace other_orbs_test
