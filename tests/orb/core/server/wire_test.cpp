// Tests a server and a client from a bare socket: what they send, and what they survive.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "orb/core/client/reference.h"
#include "orb/giop/corelane_contexts.h"
#include "orb/giop/headers.h"
#include "orb/giop/limits.h"
#include "orb/os/clock.h"
#include "orb/rt/rt.h"
#include "orb/transport/unix/unix.h"
#include "tests/support/bytes/giop_mutator.h"
#include "tests/support/peers/acceptor.h"
#include "tests/support/peers/bare_client.h"
#include "tests/support/peers/bare_server.h"
#include "tests/support/probe_servant.h"
#include "tests/support/system/captured_errors.h"
#include "tests/support/system/from_environment.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

TEST_CASE("requests of every version and byte order are answered in the same version") {
  const auto version = GENERATE(giop::giop_1_0, giop::giop_1_1, giop::giop_1_2);
  const auto order = GENERATE(ByteOrder::big, ByteOrder::little);
  BareClient served;
  Wire wire(served.wires, served.endpoint);
  begin_request(served.writer, 5, served.key, "add", version, order);
  served.writer.write(std::int32_t{40});
  served.writer.write(std::int32_t{2});
  REQUIRE(wire.send(served.writer));
  const auto message = wire.next();
  REQUIRE(message);
  CHECK(message->header.version == version);
  auto reply = giop::parse_reply(*message, {});
  REQUIRE(reply);
  CHECK(reply->header.request_id == 5);
  CHECK(reply->header.status == giop::ReplyStatus::no_exception);
  std::int32_t sum = 0;
  CHECK(reply->body.read(sum));
  CHECK(sum == 42);
}

TEST_CASE("LocateRequest tells what is here and what is not") {
  BareClient served;
  Wire wire(served.wires, served.endpoint);
  const auto locate = [&](Bytes key) {
    giop::LocateRequestHeader header{.request_id = 9, .target = {}};
    header.target.object_key = key;
    giop::begin_locate_request(served.writer, header);
    REQUIRE(wire.send(served.writer));
    const auto message = wire.next();
    REQUIRE(message);
    return giop::parse_locate_reply(*message)->header.status;
  };
  CHECK(locate(served.key) == giop::LocateStatus::object_here);
  CHECK(locate(Bytes(served.key).first(3)) == giop::LocateStatus::unknown_object);
}

TEST_CASE("a client may ask where an object is") {
  BareClient served;
  TestOrb client;
  CHECK(core::locate(probe_of(client, served.server.ior())));
  const auto at = "corbaloc:iiop:1.2@127.0.0.1:" + std::to_string(served.endpoint.port) + "/nothing";
  CHECK_FALSE(core::locate(client->string_to_object(at)));
}

TEST_CASE("garbage is answered with MessageError and the end of the connection") {
  BareClient served;
  Wire wire(served.wires, served.endpoint);
  const std::string_view text = "GET / HTTP/1.1\r\n\r\n";
  REQUIRE(wire.send(std::as_bytes(std::span(text))));
  const auto message = wire.next();
  REQUIRE(message);
  CHECK(message->header.type == giop::MessageType::message_error);
  CHECK(wire.closed_by_peer());
}

TEST_CASE("the log says of a oneway admission that it needs a reply") {
  const CapturedErrors errors;
  {
    BareClient served;
    Wire wire(served.wires, served.endpoint);
    giop::RequestHeader header;
    header.request_id = 1;
    header.response_flags = giop::response::none;
    header.target.object_key = served.key;
    header.operation = "_corelane_admit";
    const auto contract = giop::encode_contract({.contract = make_contract(10ms, 100us)});
    const giop::ServiceContext contexts[] = {{giop::context::contract, contract}};
    giop::begin_request(served.writer, header, contexts);
    served.writer.write_string("add");
    REQUIRE(wire.send(served.writer));
    begin_request(served.writer, 2, served.key, "_non_existent");
    REQUIRE(wire.send(served.writer));
    REQUIRE(wire.next());  // so the server has read both
  }
  CHECK(errors.times(
            "because of BAD_OPERATION: the request came as a oneway, but the operation works with its reply") == 1);
}

TEST_CASE("the log says that a client was cut off because of its service contexts") {
  const CapturedErrors errors;
  {
    BareClient served;
    Wire wire(served.wires, served.endpoint);
    const std::vector<giop::ServiceContext> contexts(giop::Limits{}.contexts + 1, {1, {}});
    begin_request(served.writer, 1, served.key, "ping", giop::giop_1_2, native_order, contexts);
    REQUIRE(wire.send(served.writer));
    CHECK(wire.closed_by_peer());
  }
  CHECK(errors.times("because of MARSHAL: a message has more service contexts than its receiver takes") == 1);
}

TEST_CASE("a cancelled request that waits does not run and is not answered") {
  BareClient served;
  Wire wire(served.wires, served.endpoint);
  const auto manager = served.server.orb.root()->the_POAManager();
  manager->hold_requests(true);
  begin_request(served.writer, 1, served.key, "ping");
  REQUIRE(wire.send(served.writer));
  giop::write_cancel_request(served.writer, 1);
  REQUIRE(wire.send(served.writer.bytes()));
  giop::LocateRequestHeader header{.request_id = 2, .target = {}};
  header.target.object_key = served.key;
  giop::begin_locate_request(served.writer, header);
  REQUIRE(wire.send(served.writer));
  REQUIRE(wire.next());  // so the server has read both requests before it
  manager->activate();
  begin_request(served.writer, 3, served.key, "ping");
  REQUIRE(wire.send(served.writer));
  const auto message = wire.next();
  REQUIRE(message);
  CHECK(giop::parse_reply(*message, {})->header.request_id == 3);
  CHECK(served.server.servant->pings == 1);
}

TEST_CASE("a request that is under way when the manager begins to hold waits until it is activated") {
  // Only one request runs at a time: ping() waits until block() ends. The POA manager is closed by then.
  BareClient served({"-ORBBestEffortParallel", "1"});
  ProbeServer& server = served.server;
  cdr::Writer& writer = served.writer;
  Wire wire(served.wires, served.endpoint);
  begin_request(writer, 1, served.key, "block");
  REQUIRE(wire.send(writer));
  server.servant->wait_until_blocked();
  begin_request(writer, 2, served.key, "ping");
  REQUIRE(wire.send(writer));
  begin_request(writer, 3, served.key, "_non_existent");
  REQUIRE(wire.send(writer));
  REQUIRE(wire.next());  // the reading thread answers it, while the request before it waits
  const auto manager = server.orb.root()->the_POAManager();
  manager->hold_requests(false);
  server.servant->release();
  REQUIRE(wire.next());  // the reply of block()
  while (manager->manager_state()->waiting() == 0) std::this_thread::yield();
  CHECK(server.servant->pings == 0);
  manager->activate();
  const auto message = wire.next();
  REQUIRE(message);
  const auto reply = giop::parse_reply(*message, {});
  CHECK(reply->header.request_id == 2);
  CHECK(reply->header.status == giop::ReplyStatus::no_exception);
  CHECK(server.servant->pings == 1);
}

TEST_CASE("a request that is about to run when the manager begins to hold can be cancelled") {
  // One servant runs at a time: the thread that has read ping() waits until block() ends. The POA manager holds by
  // then.
  BareClient served({"-ORBBestEffortConcurrency", "1"});
  cdr::Writer& writer = served.writer;
  Wire blocking(served.wires, served.endpoint), wire(served.wires, served.endpoint);
  // Sends a LocateRequest, and `rest` with it.
  const auto locate = [&](std::uint32_t id, Bytes rest = {}) {
    giop::LocateRequestHeader header{.request_id = id, .target = {}};
    header.target.object_key = served.key;
    giop::begin_locate_request(writer, header);
    REQUIRE(giop::finish(writer));
    std::vector<std::byte> both(writer.bytes().begin(), writer.bytes().end());
    both.insert(both.end(), rest.begin(), rest.end());
    REQUIRE(wire.send(both));
    REQUIRE(wire.next());
  };
  begin_request(writer, 1, served.key, "block");
  REQUIRE(blocking.send(writer));
  served.server.servant->wait_until_blocked();
  begin_request(writer, 2, served.key, "ping");
  REQUIRE(giop::finish(writer));
  const std::vector<std::byte> ping(writer.bytes().begin(), writer.bytes().end());
  locate(1, ping);
  // sleep: the thread that answered takes ping() next. If it took it too late, this test would not see what it is
  // about.
  std::this_thread::sleep_for(20ms);
  const auto manager = served.server.orb.root()->the_POAManager();
  manager->hold_requests(false);
  served.server.servant->release();
  while (manager->manager_state()->waiting() == 0) std::this_thread::yield();  // bound: the server reads ping()
  giop::write_cancel_request(writer, 2);
  REQUIRE(wire.send(writer.bytes()));
  locate(3);  // so the server has read the cancellation
  manager->activate();
  begin_request(writer, 4, served.key, "ping");
  REQUIRE(wire.send(writer));
  const auto message = wire.next();
  REQUIRE(message);
  CHECK(giop::parse_reply(*message, {})->header.request_id == 4);
  CHECK(served.server.servant->pings == 1);
}

TEST_CASE("shutdown says CloseConnection") {
  BareClient served;
  Wire wire(served.wires, served.endpoint);
  begin_request(served.writer, 1, served.key, "ping");
  REQUIRE(wire.send(served.writer));
  REQUIRE(wire.next());
  served.server.orb->shutdown(true);
  const auto message = wire.next();
  REQUIRE(message);
  CHECK(message->header.type == giop::MessageType::close_connection);
}

TEST_CASE("a server that ends sends the replies that wait, and CloseConnection behind them") {
  BareClient served;
  const std::size_t length = GENERATE(100u, 4'000'000u);  // the longer one is more than a socket takes at once
  Wire wire(served.wires, served.endpoint);
  begin_request(served.writer, 1, served.key, "echo");
  served.writer.write_string(std::string(length, 'x'));
  REQUIRE(wire.send(served.writer));
  while (rt::report(*served.server.orb.orb).best_effort_jobs == 0) std::this_thread::yield();
  std::jthread ends([&] { served.server.orb->shutdown(true); });
  const auto reply = wire.next();
  REQUIRE(reply);
  CHECK(reply->header.type == giop::MessageType::reply);
  CHECK(reply->bytes.size() > length);
  const auto end = wire.next();
  REQUIRE(end);
  CHECK(end->header.type == giop::MessageType::close_connection);
}

TEST_CASE("a client that has ended its own direction gets its answers, also those that take long") {
  BareClient served({"-ORBBestEffortParallel", GENERATE("1", "8")});
  ProbeServer& server = served.server;
  cdr::Writer& writer = served.writer;
  Wire wire(served.wires, served.endpoint);
  const bool blocks = GENERATE(false, true);
  if (blocks) {
    begin_request(writer, 1, served.key, "block");
    REQUIRE(wire.send(writer));
    server.servant->wait_until_blocked();
  }
  for (const std::uint32_t id : {2u, 3u}) {
    begin_request(writer, id, served.key, "ping");
    REQUIRE(wire.send(writer));
  }
  wire.finish();
  server.servant->release();
  for (int i = 0; i < (blocks ? 3 : 2); ++i) {
    const auto reply = wire.next();
    REQUIRE(reply);
    CHECK(reply->header.type == giop::MessageType::reply);
  }
  CHECK(wire.closed_by_peer());
  CHECK(server.servant->pings == 2);
}

TEST_CASE("after a reply could not be sent no request that is read later runs, except oneways") {
  constexpr std::uint32_t unanswered = 200;  // more than fit in memory
  // Uses a Unix socket: it keeps for the server what the client sent before it ended.
  const TempDirectory directory;
  ProbeServer server({"-ORBBestEffortParallel", "1", "-ORBEndpointListen", "unix:" + directory / "probe"});
  const auto reactor = std::move(*transport::Reactor::start());
  transport::UnixTransport local(*reactor);
  auto wire = std::make_unique<Wire>(*local.connect(server.orb->endpoints().front(), os::now() + long_enough));
  const auto key = server.key();
  cdr::Writer writer;
  const auto send = [&](std::uint32_t id, const char* operation) {
    begin_request(writer, id, key, operation);
    REQUIRE(wire->send(writer));
  };
  send(1, "ping");
  wire->await_bytes();
  send(2, "block");
  server.servant->wait_until_blocked();
  for (std::uint32_t id = 3; id < 3 + unanswered; ++id) send(id, "ping");
  giop::RequestHeader header{
      .request_id = 1000, .response_flags = giop::response::none, .target = {}, .operation = "note", .contexts = {}};
  header.target.object_key = key;
  giop::begin_request(writer, header, {}, giop::giop_1_2, native_order);
  writer.write_string("last");
  REQUIRE(wire->send(writer));
  wire.reset();  // a reply is unread, so the server's next send fails
  server.servant->release();
  while (server.servant->notes().empty()) std::this_thread::yield();  // bound: the server reads on
  // One of the requests may have been read while the send failed. It may run.
  const auto pings = [&] { return static_cast<std::uint32_t>(server.servant->pings.load()); };
  // bound: as above
  while (rt::report(*server.orb.orb).abandoned_requests + pings() < 1 + unanswered) std::this_thread::yield();
  CHECK(pings() <= 2);
}

TEST_CASE("a server goes on serving through mutated messages") {
  const std::uint64_t count = corelane::testing::from_environment("CORELANE_MUTATIONS", 5'000);
  BareClient served;
  const std::string_view key(reinterpret_cast<const char*>(served.key.data()), served.key.size());
  test::GiopMutator mutator(42, key);
  auto wire = std::make_unique<Wire>(served.wires, served.endpoint);
  std::uint64_t connections = 1, replies = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!wire->send(mutator.next()) || i % 16 == 15) {
      wire->finish();
      while (wire->next()) ++replies;
      wire->close();
      wire = std::make_unique<Wire>(served.wires, served.endpoint);
      ++connections;
    }
  }
  TestOrb client;
  CHECK(probe_of(client, served.server.ior())->add(1, 2) == 3);
  CHECK(connections > count / 16);
  CHECK(replies > connections / 4);  // so the server did read the messages
}

// A client, and a server that is not Corelane's.

namespace {

void reply_long(Wire& wire, const giop::Message& request, std::int32_t value) {
  cdr::Writer writer;
  begin_reply_to(request, writer);
  writer.write(value);
  wire.send(writer);
}

}  // namespace

TEST_CASE("a client reads a reply in the other byte order") {
  Acceptor acceptor;
  TestOrb client;
  const auto probe = unchecked_probe(client, acceptor.corbaloc());
  std::jthread server([&] {
    Wire wire = acceptor.next();
    const auto request = wire.next();
    REQUIRE(request);
    const std::uint32_t id = request_id_of(*request);
    const auto octet = [](std::uint32_t value, int shift) { return static_cast<std::byte>(value >> shift & 0xff); };
    // GIOP 1.2, big-endian, Reply of 16 octets: id, NO_EXCEPTION, no contexts, then the result, 0x01020304.
    const std::array<std::byte, 28> reply{
        std::byte{'G'}, std::byte{'I'}, std::byte{'O'}, std::byte{'P'}, std::byte{1},  std::byte{2},  std::byte{0},
        std::byte{1},   std::byte{0},   std::byte{0},   std::byte{0},   std::byte{16}, octet(id, 24), octet(id, 16),
        octet(id, 8),   octet(id, 0),   std::byte{0},   std::byte{0},   std::byte{0},  std::byte{0},  std::byte{0},
        std::byte{0},   std::byte{0},   std::byte{0},   std::byte{1},   std::byte{2},  std::byte{3},  std::byte{4}};
    wire.send(Bytes(reply));
    (void)wire.next();  // keeps the connection open until the client has continued
  });
  CHECK(probe->add(1, 2) == 0x01020304);
  client->destroy();
}

TEST_CASE("a reply whose results cannot be read was completed") {
  Acceptor acceptor;
  TestOrb client;
  const auto probe = unchecked_probe(client, acceptor.corbaloc());
  std::jthread server([&] {
    Wire wire = acceptor.next();
    while (const auto request = wire.next()) {  // bound: the client ends the connection
      cdr::Writer writer;
      begin_reply_to(*request, writer);
      wire.send(writer);
    }
  });
  const auto completed = [](auto call) {
    try {
      call();
    } catch (const CORBA::MARSHAL& unreadable) {
      return unreadable.completed();
    }
    return CORBA::COMPLETED_NO;
  };
  CHECK(completed([&] { probe->add(1, 2); }) == CORBA::COMPLETED_YES);
  CHECK(completed([&] { probe->_non_existent(); }) == CORBA::COMPLETED_YES);
  CHECK(completed([&] { probe->_is_a("IDL:Other:1.0"); }) == CORBA::COMPLETED_YES);
  CHECK(completed([&] { probe->_get_component(); }) == CORBA::COMPLETED_YES);
  client->destroy();
}

namespace {

void leave(ProbeServer& server) {
  server.orb.root()->deactivate_object(server.orb.root()->servant_to_id(server.servant));
}

}  // namespace

TEST_CASE("a client follows a forward with the arguments intact and remembers it") {
  const std::string version = GENERATE("1.0", "1.1", "1.2");
  const std::string key = GENERATE("any", "anyone");  // so that the arguments begin at another offset
  ProbeServer server;
  Acceptor acceptor;
  TestOrb client;
  const auto probe = unchecked_probe(client, acceptor.corbaloc(version, key));
  std::jthread agent([&] {
    Wire wire = acceptor.next();
    const auto request = wire.next();
    REQUIRE(request);
    forward(wire, *request, server.reference->_reference()->ior());
  });
  Probing::Point state{.x = 1, .label = "a", .samples = {2.5}};
  Probing::Mode mode{};
  CHECK(probe->step(2, state, mode) == 3);
  agent.join();
  CHECK(probe->add(1, 2) == 3);  // directly to the server
}

TEST_CASE("a client that was forwarded before asks the original again where the object has gone") {
  ProbeServer first;
  ProbeServer second;
  Acceptor acceptor;
  TestOrb client;
  const auto probe = unchecked_probe(client, acceptor.corbaloc());
  std::jthread agent([&] {
    Wire wire = acceptor.next();
    for (ProbeServer* const server : {&first, &second, &second}) {
      const auto request = wire.next();
      REQUIRE(request);
      forward(wire, *request, server->reference->_reference()->ior());
    }
  });
  probe->ping();
  leave(first);
  Probing::Point state{.x = 1, .label = "a", .samples = {2.5}};
  Probing::Mode mode{};
  CHECK(probe->step(2, state, mode) == 3);
  CHECK(first.servant->pings == 1);
  leave(second);
  CHECK_THROWS_AS(probe->ping(), CORBA::OBJECT_NOT_EXIST);  // the original leads to the same place
  agent.join();
}

TEST_CASE("the question where an object is goes to the original, too, where the object has gone") {
  ProbeServer server;
  Acceptor acceptor;
  TestOrb client;
  const auto probe = unchecked_probe(client, acceptor.corbaloc());
  std::jthread agent([&] {
    Wire wire = acceptor.next();
    const auto request = wire.next();
    REQUIRE(request);
    forward(wire, *request, server.reference->_reference()->ior());
    const auto question = wire.next();
    REQUIRE(question);
    const auto asked = giop::parse_locate_request(*question, {});
    REQUIRE(asked);
    cdr::Writer writer;
    giop::begin_locate_reply(writer,
                             {.request_id = asked->header.request_id, .status = giop::LocateStatus::object_here});
    REQUIRE(wire.send(writer));
  });
  probe->ping();
  leave(server);
  CHECK(core::locate(probe));
  agent.join();
}

TEST_CASE("a client that is forwarded to where nobody is asks the original once more and says where nobody is") {
  Acceptor acceptor;
  TestOrb client;
  const auto probe = unchecked_probe(client, acceptor.corbaloc());
  const giop::Ior nowhere = client->string_to_object("corbaloc::127.0.0.1:1/any")->_reference()->ior();
  int asked = 0;
  std::jthread agent([&] {
    Wire wire = acceptor.next();
    while (const auto request = wire.next()) {
      ++asked;
      forward(wire, *request, nowhere);
    }
  });
  CHECK_THROWS_WITH(probe->ping(), Catch::Contains("cannot connect to 127.0.0.1:1"));
  client->destroy();
  agent.join();
  CHECK(asked == 2);
}

TEST_CASE("a client gives up on a loop of forwards") {
  Acceptor acceptor;
  TestOrb client;
  const auto probe = unchecked_probe(client, acceptor.corbaloc());
  const giop::Ior self = probe->_reference()->ior();
  std::jthread agent([&] {
    Wire wire = acceptor.next();
    while (const auto request = wire.next()) forward(wire, *request, self);
  });
  CHECK_THROWS_AS(probe->ping(), CORBA::TRANSIENT);
  client->destroy();
}

TEST_CASE("a client sends again after CloseConnection") {
  Acceptor acceptor;
  TestOrb client;
  const auto probe = unchecked_probe(client, acceptor.corbaloc());
  std::jthread server([&] {
    {
      Wire wire = acceptor.next();
      REQUIRE(wire.next());
      close_in_order(wire);
    }
    Wire wire = acceptor.next();
    const auto request = wire.next();
    REQUIRE(request);
    reply_long(wire, *request, 3);
  });
  CHECK(probe->add(1, 2) == 3);
}

TEST_CASE("a connection that breaks after the request is COMM_FAILURE and maybe completed") {
  Acceptor acceptor;
  TestOrb client;
  const auto probe = unchecked_probe(client, acceptor.corbaloc());
  std::jthread server([&] {
    Wire wire = acceptor.next();
    REQUIRE(wire.next());
    wire.close();
  });
  try {
    probe->ping();
    FAIL("no exception");
  } catch (const CORBA::COMM_FAILURE& lost) {
    CHECK(lost.completed() == CORBA::COMPLETED_MAYBE);
  }
}

TEST_CASE("a reply to no request is left aside, and one in fragments is put together") {
  Acceptor acceptor;
  TestOrb client;
  const auto probe = unchecked_probe(client, acceptor.corbaloc());
  std::jthread server([&] {
    Wire wire = acceptor.next();
    const auto request = wire.next();
    REQUIRE(request);
    cdr::Writer writer;
    giop::begin_reply(writer, {.request_id = 4'000'000'000, .contexts = {}}, {}, giop::giop_1_2);
    wire.send(writer);
    const std::uint32_t id = request_id_of(*request);
    begin_reply_to(*request, writer);
    writer.write_string("whole");
    giop::finish(writer);
    const test::WireBytes whole = writer.to_vector();
    const std::size_t cut = 24;
    cdr::Writer first, last;
    first.write_bytes(Bytes(whole).first(cut));
    first.patch(8, static_cast<std::uint32_t>(cut - giop::header_size));
    test::WireBytes bytes = first.to_vector();
    bytes[6] |= std::byte{2};
    giop::begin_message(last, giop::MessageType::fragment, giop::giop_1_2);
    last.write(id);
    last.write_bytes(Bytes(whole).subspan(cut));
    giop::finish(last);
    bytes.insert(bytes.end(), last.bytes().begin(), last.bytes().end());
    wire.send(bytes);
  });
  CHECK(probe->echo("x") == "whole");
}

TEST_CASE("MessageError from the server is COMM_FAILURE") {
  Acceptor acceptor;
  TestOrb client;
  const auto probe = unchecked_probe(client, acceptor.corbaloc());
  std::jthread server([&] {
    Wire wire = acceptor.next();
    REQUIRE(wire.next());
    cdr::Writer writer;
    giop::write_message_error(writer, giop::giop_1_2);
    wire.send(writer.bytes());
  });
  CHECK_THROWS_AS(probe->ping(), CORBA::COMM_FAILURE);
}

TEST_CASE("a server that is killed in the middle of a call fails the call and never hangs it") {
  int to_parent[2];
  REQUIRE(::pipe(to_parent) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::signal(SIGALRM, SIG_DFL);
    ::alarm(60);  // ends this process whatever happens to its parent
    ProbeServer server;
    const std::string ior = server.ior() + "\n";
    if (::write(to_parent[1], ior.data(), ior.size()) < 0) ::_exit(1);
    server.servant->wait_until_blocked();
    ::kill(::getpid(), SIGKILL);
  }
  std::string ior;
  for (char c = 0; ::read(to_parent[0], &c, 1) == 1 && c != '\n';) ior += c;
  TestOrb client;
  const auto probe = probe_of(client, ior);
  try {
    probe->block();
    FAIL("no exception");
  } catch (const CORBA::COMM_FAILURE& lost) {
    CHECK(lost.completed() == CORBA::COMPLETED_MAYBE);
  }
  ::waitpid(child, nullptr, 0);
  try {
    probe->ping();
    FAIL("no exception");
  } catch (const CORBA::TRANSIENT& gone) {
    CHECK(gone.completed() == CORBA::COMPLETED_NO);
  }
  ::close(to_parent[0]);
  ::close(to_parent[1]);
}
