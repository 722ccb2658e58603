// Tests messages above limits.message_size. Such a message fails its own call, and nothing else on its connection.
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "orb/base/minor.h"
#include "orb/core/client/reference.h"
#include "orb/giop/headers.h"
#include "tests/support/peers/bare_wire.h"
#include "tests/support/probe_servant.h"
#include "tests/support/system/captured_errors.h"

namespace message_limit_test {

using namespace corelane;
using namespace corelane::testing;

namespace {

std::vector<std::string> any_transport(std::vector<std::string> options = {}) {
  const std::string kind = GENERATE(as<std::string>{}, "127.0.0.1:0", "unix:", "channel:");
  options.insert(options.end(), {"-ORBEndpointListen", kind});
  return options;
}

// Returns the beginning of the error text for an argument of `size` bytes. It has only the first digits: the exact size
// is that of the whole message.
std::string request_text(std::size_t size) {
  return "the request for echo has " + std::to_string(size).substr(0, size > 9'999 ? 2 : 1);
}

template <typename Call>
Error failure(Call call) {
  try {
    call();
  } catch (const CORBA::SystemException& exception) {
    return exception.error();
  }
  return {};
}

}  // namespace

TEST_CASE("a reply above the server's limit is IMP_LIMIT for its call alone, and the log says so") {
  const std::size_t size = GENERATE(4'000u, 70'000u, 3'000'000u);
  CapturedErrors log;
  ProbeServer server(any_transport({"-ORBLimitsMessageSize", "4096"}));
  TestOrb client;
  const auto probe = probe_of(client, server.ior());
  std::thread other([&] { probe->block(); });
  server.servant->wait_until_blocked();
  server.servant->name(std::string(size, 'x'));
  const Error error = failure([&] { probe->name(); });
  if (size == 4'000u) {
    CHECK(error == Error{});
  } else {
    CHECK(error == Error{ErrorKind::imp_limit, Completion::yes, minor::message_too_large});
  }
  CHECK(probe->add(20, 22) == 42);
  server.servant->release();
  other.join();  // uses the same connection
  if (size > 4'000u) {
    server.orb->destroy();
    CHECK_THAT(log.text(), Catch::Contains("answered with IMP_LIMIT") &&
                               Catch::Contains("the reply of _get_name has more than 4096 bytes, and "
                                               "limits.message_size of the server is 4096"));
  }
}

TEST_CASE("a reply above the client's limit is IMP_LIMIT for its call alone") {
  const std::size_t size = GENERATE(5'000u, 70'000u, 3'000'000u);
  ProbeServer server(any_transport());
  TestOrb client({"-ORBLimitsMessageSize", "4096"});
  const auto probe = probe_of(client, server.ior());
  std::thread other([&] { probe->block(); });
  server.servant->wait_until_blocked();
  server.servant->name(std::string(size, 'x'));
  for (int i = 0; i < 3; ++i) {
    try {
      probe->name();
      FAIL("it was answered");
    } catch (const CORBA::IMP_LIMIT& refusal) {
      CHECK(refusal.error() == Error{ErrorKind::imp_limit, Completion::yes, minor::message_too_large});
      CHECK_THAT(std::string(refusal.detail()), Catch::Matches("the reply of _get_name has [0-9]+ bytes, and "
                                                               "limits.message_size of this client is 4096"));
    }
    CHECK(probe->add(20, 22) == 42);
  }
  server.servant->release();
  other.join();
}

TEST_CASE("a request above the server's limit is IMP_LIMIT for its call alone") {
  const std::size_t size = GENERATE(5'000u, 70'000u, 3'000'000u);
  CapturedErrors log;
  ProbeServer server(any_transport({"-ORBLimitsMessageSize", "4096"}));
  TestOrb client;
  const auto probe = probe_of(client, server.ior());
  std::thread other([&] { probe->block(); });
  server.servant->wait_until_blocked();
  for (int i = 0; i < 3; ++i) {
    try {
      probe->echo(std::string(size, 'x'));
      FAIL("it was answered");
    } catch (const CORBA::IMP_LIMIT& refusal) {
      CHECK(refusal.error() == Error{ErrorKind::imp_limit, Completion::no, minor::message_too_large});
      CHECK_THAT(std::string(refusal.detail()), Catch::Contains(request_text(size)));
    }
    CHECK(probe->add(20, 22) == 42);
  }
  server.servant->release();
  other.join();
  server.orb->destroy();
  CHECK_THAT(log.text(), Catch::Contains("answered with IMP_LIMIT") && Catch::Contains(request_text(size)));
}

TEST_CASE("a foreign client whose request is too large is answered in its version and goes on over its connection") {
  const auto version = GENERATE(giop::giop_1_0, giop::giop_1_1, giop::giop_1_2);
  const auto order = GENERATE(ByteOrder::big, ByteOrder::little);
  ProbeServer server({"-ORBLimitsMessageSize", "4096"});
  Wires wires;
  Wire wire(wires, server.orb->endpoints().front());
  const std::vector<std::byte> key = server.key();
  cdr::Writer writer;
  for (std::uint32_t id = 1; id < 4; ++id) {
    begin_request(writer, id, key, "echo", version, order);
    writer.write_string(std::string(100'000, 'x'));
    REQUIRE(wire.send(writer));
    begin_request(writer, id + 100, key, "add", version, order);
    writer.write(std::int32_t{40});
    writer.write(std::int32_t{2});
    REQUIRE(wire.send(writer));
    for (const std::uint32_t expected : {id, id + 100}) {
      const auto message = wire.next();
      REQUIRE(message);
      CHECK(message->header.version == version);
      auto reply = giop::parse_reply(*message, {});
      REQUIRE(reply);
      CHECK(reply->header.request_id == expected);
      if (expected > 100) continue;
      REQUIRE(reply->header.status == giop::ReplyStatus::system_exception);
      CHECK(*giop::decode_system_exception(reply->body) ==
            Error{ErrorKind::imp_limit, Completion::no, minor::message_too_large});
    }
  }
}

TEST_CASE("a oneway request that is too large is dropped, and those behind it arrive") {
  ProbeServer server({"-ORBLimitsMessageSize", "4096"});
  TestOrb client;
  const auto probe = probe_of(client, server.ior());
  probe->note(std::string(100'000, 'x'));
  probe->note("next");
  CHECK(probe->add(1, 2) == 3);
  while (server.servant->notes().empty()) std::this_thread::yield();
  CHECK(server.servant->notes() == std::vector<std::string>{"next"});
}

}  // namespace message_limit_test
