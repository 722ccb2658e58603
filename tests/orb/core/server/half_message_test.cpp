// Tests how long a server waits for the rest of a message, and for a client that does not read.
#include <thread>

#include "orb/core/lifecycle/orb_state.h"
#include "orb/os/clock.h"
#include "orb/rt/rt.h"
#include "tests/support/await.h"
#include "tests/support/peers/bare_client.h"
#include "tests/support/peers/bare_sender.h"
#include "tests/support/probe_servant.h"
#include "tests/support/system/captured_errors.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

// Returns a whole ping request, with `more` bytes too many.
std::vector<std::byte> ping_of(const BareClient& client, std::size_t more = 0) {
  cdr::Writer writer;
  begin_request(writer, 1, client.key, "ping");
  if (more > 0) writer.write_bytes(std::vector<std::byte>(more));
  REQUIRE(giop::finish(writer));
  return writer.to_vector();
}

// Returns the type of the next message from the server, or nothing if the server ended the connection.
std::optional<giop::MessageType> answer(Wire& wire) {
  const auto message = wire.next();
  return message ? std::optional(message->header.type) : std::nullopt;
}

}  // namespace

TEST_CASE("a client whose every packet ends inside another message is served on and on") {
  constexpr auto patience = 300ms;
  BareClient client({"-ORBTimeoutHeader", "300ms"});
  Wire wire(client.wires, client.endpoint);
  std::vector<std::byte> bytes = ping_of(client);
  const std::size_t half = bytes.size() / 2;
  const Time begin = os::now();
  REQUIRE(wire.send(Bytes(bytes).first(half)));
  // This thread may be late. Then the server may cut it off, but never sooner than after its patience.
  for (Time before = begin; before < begin + 3 * patience;) {
    const std::vector<std::byte> next = ping_of(client);
    bytes.insert(bytes.end(), next.begin(), next.begin() + static_cast<std::ptrdiff_t>(half));
    const Time now = os::now();
    if (!wire.send(Bytes(bytes).subspan(half)) || !wire.next()) {
      CHECK(os::now() >= before + patience);
      return;
    }
    before = now;
    bytes = next;
  }
}

TEST_CASE("a client that stalls in the middle of a message is cut off") {
  BareClient client({"-ORBTimeoutHeader", "20ms"});
  Wire wire(client.wires, client.endpoint);
  REQUIRE(wire.send(Bytes(ping_of(client)).first(20)));
  CHECK(wire.closed_by_peer());
  await("the client is cut off", [&] { return rt::report(*client.server.orb.orb).cut_off_clients > 0; });
}

TEST_CASE("a client that stops inside a long message is told so and disconnected when another client needs room") {
  BareClient client({"-ORBLimitsMemory", "100000", "-ORBLimitsMessageSize", "400000", "-ORBTimeoutHeader", "4s"});
  const transport::MemoryBudget& all = *client.server.orb->state().memory;
  const std::size_t uncounted = all.bounds().free;
  Wire first(client.wires, client.endpoint), second(client.wires, client.endpoint);
  const std::vector<std::byte> one = ping_of(client, 350'000), other = ping_of(client, GENERATE(200'000u, 380'000u));
  REQUIRE(first.send(Bytes(one).first(one.size() - 1)));
  await("the server has taken the first message", [&] { return all.used() >= one.size() - 1 - uncounted; });
  REQUIRE(second.send(other));
  CHECK(answer(first) == giop::MessageType::reply);
  CHECK(first.closed_by_peer());
  CHECK(answer(second) == giop::MessageType::reply);
  CHECK(rt::report(*client.server.orb.orb).cut_off_clients == 1);
  await("the server holds nothing of its clients", [&] { return all.used() == 0; });
}

TEST_CASE("a server whose limits.memory is less than one message says what a client may make it hold") {
  const bool is_less = GENERATE(true, false);
  const CapturedErrors log;
  const ProbeServer server({"-ORBLimitsMemory", is_less ? "65535" : "65536", "-ORBLimitsMessageSize", "65536"});
  CHECK(log.times("limits.memory = 65535 is less than limits.message_size = 65536: each client may still make this "
                  "server hold one message of that size") == (is_less ? 1u : 0u));
}

TEST_CASE("a client that calls and does not read its replies is disconnected, counted, and harms no other client") {
  const TempDirectory directory;
  // Tests both limits: replies wait until the client has read nothing for too long.
  const auto [bound, patience] =
      GENERATE(table<std::string, std::string>({{"-ORBLimitsBacklog", "50ms"}, {"-ORBLimitsMemory", "50ms"}}));
  ProbeServer server({bound, "65536", "-ORBTimeoutBacklog", patience, "-ORBRuntimeDirectory", directory.path(),
                      "-ORBEndpointListen", "127.0.0.1:0, unix:"});
  const std::size_t endpoint = GENERATE(0u, 1u);
  BareSender deaf(server.orb->endpoints().at(endpoint), server.key());
  // Bound: the buffers of both sockets and the server's backlog are finite. BareSender has no backlog of its own. A
  // client with a backlog could fill it while the server does not get its core, and would end the connection itself.
  while (deaf.send(deaf.request("echo", std::string(60'000, 'x')))) continue;
  // Bound: the server's patience. The server stops reading from a client that does not read its replies. So this client
  // does not fill the backlog that all clients share.
  await("the client is cut off", [&] { return rt::report(*server.orb.orb).cut_off_clients > 0; });
  CHECK(rt::report(*server.orb.orb).cut_off_clients == 1);
  TestOrb client;
  CHECK(probe_of(client, server.ior())->add(1, 2) == 3);
}

TEST_CASE("long replies and oneways of many threads over one connection all arrive, whatever the backlog holds") {
  const TempDirectory directory;
  const std::string listen = GENERATE("127.0.0.1:0", "unix:", "channel:");
  const std::vector<std::string> options{"-ORBLimitsBacklog",  "65536", "-ORBRuntimeDirectory", directory.path(),
                                         "-ORBEndpointListen", listen};
  ProbeServer server(options);
  TestOrb client(options);
  const auto probe = probe_of(client, server.ior());
  constexpr int threads = 4, rounds = 3;
  std::vector<std::jthread> callers;
  for (int i = 0; i < threads; ++i)
    callers.emplace_back([&, letter = static_cast<char>('a' + i)] {
      const std::string text(4'000'000, letter);  // more than a socket or channel takes at once
      for (int round = 0; round < rounds; ++round) {
        probe->note(text);
        if (probe->echo(text) != text) FAIL("a reply holds bytes of another");
      }
    });
  callers.clear();
  await("all oneways have run", [&] { return server.servant->notes().size() >= threads * rounds; });
  CHECK(rt::report(*server.orb.orb).cut_off_clients == 0);
}
