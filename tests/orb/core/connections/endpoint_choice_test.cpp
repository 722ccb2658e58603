// Tests which transport a call takes between a real client and a real server, and where a server listens.
#include <sys/socket.h>
#include <sys/un.h>

#include <catch2/catch.hpp>
#include <exception>
#include <filesystem>
#include <future>
#include <memory>
#include <set>
#include <thread>

#include "orb/channel/ends/setup.h"
#include "orb/core/call_deadline.h"
#include "orb/core/client/async_invocation.h"
#include "orb/core/client/reference.h"
#include "orb/core/lifecycle/orb_state.h"
#include "orb/core/route.h"
#include "orb/os/log.h"
#include "tests/support/modes.h"
#include "tests/support/probe_servant.h"
#include "tests/support/quiet.h"
#include "tests/support/system/captured_errors.h"
#include "tests/support/system/localhost.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::testing;
using transport::Endpoint;
using transport::TransportKind;
namespace kinds = transport::kinds;

namespace {

// While a Verbose lives, the log has the lines about transports, too.
struct Verbose {
  Verbose() { os::log::set_level(os::log::Level::debug); }
  Verbose(const Verbose&) = delete;
  Verbose& operator=(const Verbose&) = delete;
  ~Verbose() { os::log::set_level(os::log::Level::info); }
};

struct Fixture {
  const TempDirectory directory{};
  const std::string path = directory / "probe.sock";
  TestOrb client;

  std::string both() const { return "127.0.0.1:0, unix:" + path; }
  std::string all() const { return both() + ", channel:" + path + ".channel"; }

  // Returns the kind of endpoint that a client's call goes over.
  const TransportKind* kind_of_call(const std::string& ior) { return kind_of_call(client, ior); }
  static const TransportKind* kind_of_call(TestOrb& client, const std::string& ior) {
    const auto probe = probe_of(client, ior);
    CHECK(probe->add(1, 2) == 3);
    const core::Address address = *probe->_reference()->address();
    const auto connection = client->state().connect(address, never);
    REQUIRE(connection);
    return (*connection)->peer().kind;
  }
};

// Returns the server's reference as a client on another host would read it.
std::string without_this_host(const std::string& text) {
  auto ior = giop::parse_ior(text);
  auto profile = giop::parse_iiop(ior->profiles.front());
  for (giop::TaggedComponent& component : profile->components)
    if (component.tag == giop::component::unix_socket || component.tag == giop::component::channel)
      component.data = giop::make_unix_address({.boot_id = "another", .mount_namespace = 1, .path = "/x"}).data;
  ior->profiles.front() = giop::make_profile(*profile);
  return giop::to_string(*ior);
}

// Listens at the path of a server's channel, in place of the server.
os::Fd door_at(const std::string& path) {
  std::filesystem::remove(path);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  path.copy(address.sun_path, path.size());
  os::Fd door(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  REQUIRE(bind(door.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(listen(door.get(), 1) == 0);
  return door;
}

// Accepts one client and gives its handshake up, as a server does whose thread came to it too late.
bool gives_up_one(const os::Fd& door) {
  channel::Acceptance handshake(
      os::PeerSocket(os::Fd(accept4(door.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK))));
  const bool answered = channel::wait_readable(handshake.descriptor(), never) && !handshake.advance({});
  handshake.give_up();
  return answered;
}

CORBA::CompletionStatus completed_of(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const CORBA::TRANSIENT& full) {
    return full.completed();
  } catch (...) {
    return CORBA::COMPLETED_MAYBE;
  }
}

// Calls add(). Retries while the server is full: a server may still be busy with another client's call although that
// client has its reply.
std::int32_t patient_sum(const CORBA::object_reference<Probing::Probe>& probe, std::int32_t a, std::int32_t b) {
  for (;;) try {  // bound: the server's thread
      return probe->add(a, b);
    } catch (const CORBA::TRANSIENT& full) {
      if (full.completed() != CORBA::COMPLETED_NO) throw;
      std::this_thread::yield();
    }
}

// Returns the completion status of an asynchronous add(3, 4) that ends in TRANSIENT, when it is sent or later.
CORBA::CompletionStatus completed_of_asynchronous(const CORBA::object_reference<Probing::Probe>& probe) try {
  static constexpr core::Operation add{.name = "add"};
  std::promise<CORBA::CompletionStatus> ended;
  core::AsyncInvocation call(*probe, add);
  call.marshal(std::int32_t{3}, std::int32_t{4});
  call.send([&](core::AsyncReply& reply) {
    std::int32_t sum = 0;
    ended.set_value(reply.unmarshal(sum) ? CORBA::COMPLETED_YES : completed_of(reply.exception()));
  });
  return ended.get_future().get();
} catch (const CORBA::TRANSIENT&) {
  return completed_of(std::current_exception());
}

}  // namespace

TEST_CASE("a server listens at every endpoint of its configuration and its references name them") {
  Fixture test;
  ProbeServer server({"-ORBEndpointListen", "127.0.0.1:0, [::1]:0, unix:" + test.path});
  const auto endpoints = server.orb->endpoints();
  REQUIRE(endpoints.size() == 3);
  CHECK(endpoints[2] == transport::unix_endpoint(test.path));
  const core::Address address = *server.reference->_reference()->address();
  CHECK(address.endpoints == std::vector{endpoints[2], endpoints[0], endpoints[1]});
}

TEST_CASE("a client of the same host takes the Unix socket by itself") {
  Fixture test;
  ProbeServer server({"-ORBEndpointListen", test.both()});
  CHECK(test.kind_of_call(server.ior()) == &kinds::unix_socket);
}

TEST_CASE("a client of the same host takes the channel before the Unix socket unless it is told not to") {
  Fixture test;
  ProbeServer server({"-ORBEndpointListen", test.all()});
  CHECK(test.kind_of_call(server.ior()) == &kinds::channel);
  TestOrb other({"-ORBClientChannel", "off"});
  CHECK(test.kind_of_call(other, server.ior()) == &kinds::unix_socket);
}

TEST_CASE("a client whose first call has little time takes the channel with the next call that has time") {
  Fixture test;
  ProbeServer server({"-ORBEndpointListen", test.all()});
  const auto probe = unchecked_probe(test.client, server.ior());
  bool answered = false;
  while (!answered) try {  // bound: only now and then a first call of 30 ms is late
      const core::CallDeadline little(os::now() + core::ConnectionCache::time_for_channel -
                                      std::chrono::milliseconds{10});
      answered = probe->add(1, 2) == 3;
    } catch (const CORBA::TIMEOUT& late) {
      CHECK_THAT(late.what(), Catch::Contains("; this call had ") || Catch::Contains("connect"));
    }
  CHECK(core::route_of(*probe->_reference()).transport == "unix");
  CHECK(probe->add(3, 4) == 7);
  CHECK(core::route_of(*probe->_reference()).transport == "channel");
}

TEST_CASE("a server of every mode answers through a channel") {
  Fixture test;
  const std::string mode = GENERATE(every_mode());
  ProbeServer server({"-ORBEndpointListen", test.all(), "-ORBDispatchMode", mode});
  CHECK(test.kind_of_call(server.ior()) == &kinds::channel);
  const auto probe = probe_of(test.client, server.ior());
  for (int i = 0; i < 100; ++i) CHECK(probe->add(i, 1) == i + 1);
  const std::string large(3'000'000, 'x');
  CHECK(probe->echo(large) == large);
}

TEST_CASE("a client that gets no channel uses the Unix socket") {
  const Quiet quiet;
  Fixture test;
  ProbeServer server({"-ORBEndpointListen", test.all()});
  std::filesystem::remove(test.path + ".channel");
  CHECK(test.kind_of_call(server.ior()) == &kinds::unix_socket);
}

TEST_CASE("a client whose channel is given up while it is set up takes the Unix socket, and its log says why") {
  Fixture test;
  ProbeServer server({"-ORBEndpointListen", test.all()});
  const os::Fd door = door_at(test.path + ".channel");
  const CapturedErrors log;
  const Verbose verbose;
  auto given_up = std::async(std::launch::async, [&] { return gives_up_one(door); });
  TestOrb patient({"-ORBTimeoutConnect", "180s"});
  CHECK(test.kind_of_call(patient, server.ior()) == &kinds::unix_socket);
  CHECK(given_up.get());
  CHECK(log.times("no channel to " + test.path + ".channel; calls use a socket instead: the other end refused") == 1);
  CHECK(log.times("calls over unix:" + test.path + ": ") == 1);
}

TEST_CASE("one line of the log says over which transport the calls to a server go, and why") {
  Fixture test;
  // `by` is the beginning of the endpoint, `why` the end of the line.
  const auto [has_channel, channels, by, why] = GENERATE(table<bool, std::string, std::string, std::string>({
      {true, "on", "channel:", "\n"},
      {true, "off", "unix:", ", but client.channel is off\n"},
      {false, "on", "unix:", ", and the reference names no channel\n"},
  }));
  const std::string listens = has_channel ? test.all() : test.both();
  const std::string line = "debug: calls over " + by + test.path + (by == "channel:" ? ".channel" : "") +
                           ": the server is on this host" + why;
  ProbeServer server({"-ORBEndpointListen", listens});
  const CapturedErrors log;
  const Verbose verbose;
  TestOrb client({"-ORBClientChannel", channels});
  for (int connections = 0; connections < 2; ++connections) {
    const auto probe = probe_of(client, server.ior());
    CHECK(probe->add(1, 2) == 3);
    (*client->state().connect(*probe->_reference()->address(), never))->close();
  }
  CHECK(log.times(line) == 1);
  CHECK(log.times("calls over ") == 1);
}

TEST_CASE("the log says why the calls to a server on this host go over TCP") {
  Fixture test;
  ProbeServer server({"-ORBEndpointListen", test.all()});
  std::filesystem::remove(test.path + ".channel");
  std::filesystem::remove(test.path);
  const CapturedErrors log;
  const Verbose verbose;
  CHECK(test.kind_of_call(server.ior()) == &kinds::tcp);
  CHECK(log.times("debug: no channel to " + test.path + ".channel; calls use a socket instead: ") == 1);
  CHECK(log.times("debug: calls over TCP to 127.0.0.1:") == 1);
  CHECK(log.times(": the server is on this host, but no channel came about, and its Unix socket: No such file") == 1);
}

TEST_CASE("a client's log has no line about its calls unless debug lines are asked for") {
  Fixture test;
  ProbeServer server({"-ORBEndpointListen", test.all()});
  TestOrb client({"-ORBClientChannel", GENERATE(as<std::string>{}, "on", "off")});
  const CapturedErrors log;
  CHECK(test.kind_of_call(client, server.ior()) != &kinds::tcp);
  CHECK(log.text().find("info: ") == std::string::npos);
  CHECK(log.times("calls over ") == 0);
}

TEST_CASE("the log says that calls go over TCP because the server is on another host") {
  Fixture test;
  ProbeServer server({"-ORBEndpointListen", test.all()});
  const std::string elsewhere = without_this_host(server.ior());
  const CapturedErrors log;
  const Verbose verbose;
  CHECK(test.kind_of_call(elsewhere) == &kinds::tcp);
  CHECK(log.times("debug: calls over TCP to 127.0.0.1:") == 1);
  CHECK(log.times(": the server is on another host\n") == 1);
  CHECK(log.times("calls over ") == 1);
}

TEST_CASE("a client calls on over the Unix socket when its channel broke and no other is given") {
  const Quiet quiet;
  Fixture test;
  ProbeServer server({"-ORBEndpointListen", test.all()});
  const auto probe = probe_of(test.client, server.ior());
  CHECK(probe->add(1, 2) == 3);
  std::filesystem::remove(test.path + ".channel");
  (*test.client->state().connect(*probe->_reference()->address(), never))->close();
  CHECK(probe->add(3, 4) == 7);
  CHECK(test.kind_of_call(server.ior()) == &kinds::unix_socket);
}

TEST_CASE("a client that fell back takes the channel again once the connection that it fell back to has ended") {
  const Quiet quiet;
  Fixture test;
  ProbeServer server({"-ORBEndpointListen", test.all()});
  const std::string door = test.path + ".channel";
  std::filesystem::rename(door, door + ".away");
  CHECK(test.kind_of_call(server.ior()) == &kinds::unix_socket);
  std::filesystem::rename(door + ".away", door);
  CHECK(test.kind_of_call(server.ior()) == &kinds::unix_socket);
  const auto probe = probe_of(test.client, server.ior());
  (*test.client->state().connect(*probe->_reference()->address(), never))->close();
  CHECK(test.kind_of_call(server.ior()) == &kinds::channel);
}

TEST_CASE("a call beyond a limit of connections did not run and says so over every transport") {
  const Quiet quiet;
  Fixture test;
  const std::string kind = GENERATE(as<std::string>{}, "127.0.0.1:0", "unix:", "channel:");
  const std::string limit = GENERATE(as<std::string>{}, "-ORBLimitsConnections", "-ORBLimitsConnectionsPerPeer");
  const std::string endpoint = kind.ends_with(':') ? kind + test.path : kind;
  ProbeServer server({"-ORBEndpointListen", endpoint, limit, "1"});
  const auto first = probe_of(test.client, server.ior());
  auto busy = std::async(std::launch::async, [&] { first->block(); });
  server.servant->wait_until_blocked();
  TestOrb other;
  const auto second = probe_of(other, server.ior());
  try {
    second->add(3, 4);
    FAIL("no exception");
  } catch (const CORBA::TRANSIENT& full) {
    CHECK(full.completed() == CORBA::COMPLETED_NO);
    CHECK(full.minor() == (endpoint.starts_with("channel:") ? minor::connect_failed : minor::peer_closed));
  }
  CHECK(completed_of_asynchronous(second) == CORBA::COMPLETED_NO);
  server.servant->release();
  busy.get();
  CHECK(first->add(3, 4) == 7);
}

TEST_CASE("an idle client makes room for another one, and calls on by itself") {
  Fixture test;
  const std::string kind = GENERATE(as<std::string>{}, "127.0.0.1:0", "unix:", "channel:");
  const std::string limit = GENERATE(as<std::string>{}, "-ORBLimitsConnections", "-ORBLimitsConnectionsPerPeer");
  ProbeServer server({"-ORBEndpointListen", kind.ends_with(':') ? kind + test.path : kind, limit, "1"});
  TestOrb other;
  const auto first = probe_of(test.client, server.ior()), second = probe_of(other, server.ior());
  for (int i = 0; i < 5; ++i) {
    CHECK(patient_sum(first, i, 1) == i + 1);
    CHECK(patient_sum(second, i, 2) == i + 2);
  }
}

TEST_CASE("a client of another host takes TCP") {
  Fixture test;
  ProbeServer server({"-ORBEndpointListen", test.all()});
  CHECK(test.kind_of_call(without_this_host(server.ior())) == &kinds::tcp);
}

TEST_CASE("a client that cannot reach the Unix socket falls back to TCP") {
  Fixture test;
  ProbeServer server({"-ORBEndpointListen", test.both()});
  std::filesystem::remove(test.path);
  CHECK(test.kind_of_call(server.ior()) == &kinds::tcp);
}

TEST_CASE("a client calls on over TCP when the Unix connection broke and the socket is gone") {
  Fixture test;
  ProbeServer server({"-ORBEndpointListen", test.both()});
  const auto probe = probe_of(test.client, server.ior());
  CHECK(probe->add(1, 2) == 3);
  std::filesystem::remove(test.path);
  (*test.client->state().connect(*probe->_reference()->address(), never))->close();
  CHECK(probe->add(3, 4) == 7);
  CHECK(test.kind_of_call(server.ior()) == &kinds::tcp);
}

TEST_CASE("a path is chosen in the runtime directory and removed at shutdown") {
  Fixture test;
  std::string path;
  {
    TestOrb server({"-ORBEndpointListen", "unix:", "-ORBRuntimeDirectory", test.directory.path()});
    server.root();
    server->listen();
    REQUIRE(server->endpoints().size() == 1);
    path = server->endpoints().front().path;
    CHECK(path.starts_with(test.directory.path() + "/"));
    CHECK(std::filesystem::exists(path));
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a server with TCP offers a Unix socket and a channel of its own accord, which its clients take") {
  Fixture test;
  ProbeServer server({"-ORBEndpointLocal", "on", "-ORBRuntimeDirectory", test.directory.path()});
  const auto endpoints = server.orb->endpoints();
  REQUIRE(endpoints.size() == 3);
  CHECK(endpoints[1].kind == &kinds::unix_socket);
  CHECK(endpoints[2].kind == &kinds::channel);
  CHECK(test.kind_of_call(server.ior()) == &kinds::channel);
  CHECK(test.kind_of_call(without_this_host(server.ior())) == &kinds::tcp);
}

TEST_CASE("a server with TCP adds local endpoints that the settings do not name, and none if that is off") {
  Fixture test;
  const auto [unix_named, local, expected] = GENERATE(
      table<bool, std::string, std::size_t>({{true, "on", 3}, {true, "off", 2}, {false, "on", 3}, {false, "off", 1}}));
  const std::string listen = unix_named ? test.both() : "127.0.0.1:0";
  ProbeServer server(
      {"-ORBEndpointListen", listen, "-ORBEndpointLocal", local, "-ORBRuntimeDirectory", test.directory.path()});
  CHECK(server.orb->endpoints().size() == expected);
}

TEST_CASE("without a directory for a chosen path a server with TCP goes on and says so in one line") {
  const CapturedErrors log;
  TestOrb both({"-ORBEndpointLocal", "on", "-ORBRuntimeDirectory", "/dev/null/nowhere"});
  both.root();
  both->listen();
  CHECK(both->endpoints().size() == 1);
  CHECK(log.times("cannot listen") == 0);
  CHECK(log.times("clients of this host have to use TCP, because there are no channels and no Unix socket: "
                  "/dev/null/nowhere") == 1);
}

TEST_CASE("a server that listens at the name of a host is reached at each of its addresses, at one port") {
  const std::set<std::string> usable = usable_addresses_of_localhost();
  if (usable.empty()) {
    WARN("SKIPPED: nothing here, such as /etc/hosts, gives localhost an address");
    return;
  }
  std::unique_ptr<ProbeServer> server;
  std::set<std::string> hosts;
  // Another program may have the port at one of the addresses. That address is left out then.
  for (int attempt = 0; attempt < 20 && hosts != usable; ++attempt) {
    server.reset();
    server = std::make_unique<ProbeServer>(std::vector<std::string>{"-ORBEndpointListen", "localhost:0"});
    hosts.clear();
    for (const Endpoint& place : server->orb->endpoints()) hosts.insert(place.host);
  }
  CHECK(hosts == usable);
  TestOrb client;
  for (const Endpoint& place : server->orb->endpoints()) {
    CHECK(place.port == server->orb->endpoints().front().port);
    giop::Ior ior{.type_id = "IDL:Probing/Probe:1.0",
                  .profiles = {core::profile_of(std::vector{place}, server->key())}};
    const auto reference = std::make_shared<core::Reference>(client.orb.shared(), std::move(ior));
    CHECK(core::make_stub<Probing::Probe>(reference)->add(1, 2) == 3);
  }
}

TEST_CASE("a server does not start at a name whose port another program has at one of the addresses") {
  if (!usable_addresses_of_localhost().contains("127.0.0.1")) {
    WARN("SKIPPED: localhost is not 127.0.0.1 here");
    return;
  }
  const Quiet quiet;
  ProbeServer first;
  TestOrb second({"-ORBEndpointListen", "localhost:" + std::to_string(first.orb->endpoints().front().port)});
  second.root();
  CHECK_THROWS_AS(second->listen(), CORBA::COMM_FAILURE);
  CHECK(second->endpoints().empty());
}

TEST_CASE("without a directory for a chosen path a server without TCP does not start") {
  const Quiet quiet;
  TestOrb alone({"-ORBEndpointListen", "unix:", "-ORBRuntimeDirectory", "/dev/null/nowhere"});
  alone.root();
  CHECK_THROWS_AS(alone->listen(), CORBA::BAD_PARAM);
}

TEST_CASE("a named path that is taken keeps a server from starting") {
  const Quiet quiet;
  Fixture test;
  ProbeServer server({"-ORBEndpointListen", "unix:" + test.path});
  TestOrb second({"-ORBEndpointListen", "127.0.0.1:0, unix:" + test.path});
  second.root();
  CHECK_THROWS_AS(second->listen(), CORBA::COMM_FAILURE);
  CHECK(test.kind_of_call(server.ior()) == &kinds::unix_socket);
}

TEST_CASE("a Unix socket has the permissions of the configuration") {
  Fixture test;
  ProbeServer server({"-ORBEndpointListen", "unix:" + test.path, "-ORBEndpointUnixMode", "0666"});
  CHECK((std::filesystem::status(test.path).permissions() & std::filesystem::perms::mask) ==
        static_cast<std::filesystem::perms>(0666));
}
