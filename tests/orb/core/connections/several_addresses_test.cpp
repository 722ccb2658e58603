// Tests references with several profiles and addresses: which one a call takes when some lead nowhere.
#include <netinet/in.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

#include "orb/core/client/reference.h"
#include "orb/core/connections/address.h"
#include "orb/core/lifecycle/orb_state.h"
#include "orb/giop/corbaloc.h"
#include "orb/giop/ior.h"
#include "orb/os/fd.h"
#include "tests/support/probe_servant.h"
#include "tests/support/quiet.h"

namespace several_addresses_test {

using namespace corelane;
using namespace corelane::testing;

namespace {

// A port of this host where no server listens, until destruction.
class Unused {
 public:
  Unused() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    socklen_t size = sizeof address;
    REQUIRE(::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
  }
  std::uint16_t port() const { return port_; }
  int descriptor() const { return socket_.get(); }

 private:
  os::Fd socket_;
  std::uint16_t port_ = 0;
};

// A port that does not answer, because its queue of connections is full.
class Silent : public Unused {
 public:
  Silent() {
    REQUIRE(::listen(descriptor(), 0) == 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port());
    for (os::Fd& caller : callers_) {
      caller = os::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      (void)::connect(caller.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
    }
  }

 private:
  std::vector<os::Fd> callers_{4};
};

struct Fixture {
  Fixture() : live(server.orb->endpoints().front().port) {
    const std::vector<std::byte> bytes = server.key();
    key.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }

  // Returns a stub for `corbaloc::127.0.0.1:A,:127.0.0.1:B/KEY`.
  CORBA::object_reference<Probing::Probe> at(TestOrb& client, const std::vector<std::uint16_t>& ports,
                                             giop::Version version = giop::giop_1_2) {
    giop::Corbaloc location{.addresses = {}, .object_key = key};
    for (const std::uint16_t port : ports) location.addresses.push_back({version, {"127.0.0.1", port}});
    return core::make_stub<Probing::Probe>(client->string_to_object(giop::to_string(location))->_reference());
  }
  // Returns a stub whose reference has one profile with alternate addresses.
  CORBA::object_reference<Probing::Probe> alternates(TestOrb& client, const std::vector<std::uint16_t>& ports) {
    std::vector<transport::Endpoint> endpoints;
    for (const std::uint16_t port : ports) endpoints.push_back({"127.0.0.1", port});
    giop::Ior ior{.type_id = {}, .profiles = {core::profile_of(endpoints, std::as_bytes(std::span(key)))}};
    return core::make_stub<Probing::Probe>(std::make_shared<core::Reference>(client.orb.shared(), std::move(ior)));
  }
  static std::uint16_t port_of_call(TestOrb& client, const CORBA::object_reference<Probing::Probe>& probe) {
    const auto found = client->state().connect(probe->_reference()->addresses(), never);
    REQUIRE(found);
    return found->connection->peer().port;
  }

  const Quiet quiet{};
  ProbeServer server;
  const std::uint16_t live;
  std::string key;
};

}  // namespace

TEST_CASE("a call goes to the first address that answers, however many before it are dead") {
  Fixture test;
  const Unused dead, gone;
  TestOrb client;
  const std::vector<std::uint16_t> ways[] = {{dead.port(), test.live},
                                             {test.live, dead.port()},
                                             {dead.port(), gone.port(), test.live},
                                             {dead.port(), test.live, gone.port()}};
  const std::vector<std::uint16_t> ports = ways[GENERATE(0, 1, 2, 3)];
  const bool profiles = GENERATE(true, false);
  const giop::Version version = GENERATE(giop::giop_1_0, giop::giop_1_2);
  const auto probe = profiles ? test.at(client, ports, version) : test.alternates(client, ports);
  for (int i = 0; i < 3; ++i) CHECK(probe->add(i, 2) == i + 2);
  CHECK(Fixture::port_of_call(client, probe) == test.live);
  probe->note("oneway");
  std::jthread([&] { CHECK(probe->add(1, 2) == 3); }).join();
  while (test.server.servant->notes().empty()) std::this_thread::yield();
}

TEST_CASE("an address that gives no answer takes its share of the time and no more") {
  Fixture test;
  const Silent silent;
  TestOrb client({"-ORBTimeoutConnect", "2s"});
  const bool profiles = GENERATE(true, false);
  const std::vector<std::uint16_t> ports{silent.port(), test.live};
  const auto probe = profiles ? test.at(client, ports) : test.alternates(client, ports);
  CHECK(probe->add(1, 2) == 3);
  // The next connection is made to the same address as the last one.
  client->state().connect(probe->_reference()->addresses(), never)->connection->close();
  CHECK(probe->add(2, 2) == 4);
}

TEST_CASE("when no address answers the error names all of them") {
  Fixture test;
  const Unused dead, gone;
  TestOrb client;
  const auto probe = test.at(client, {dead.port(), gone.port()});
  try {
    probe->add(1, 2);
    FAIL("no exception");
  } catch (const CORBA::TRANSIENT& fault) {
    CHECK(fault.completed() == CORBA::COMPLETED_NO);
    CHECK_THAT(fault.what(),
               Catch::Contains(std::to_string(dead.port())) && Catch::Contains(std::to_string(gone.port())));
  }
}

TEST_CASE("a call moves to the next address when its server ends, and back when that has ended") {
  Fixture test;
  auto other = std::make_unique<ProbeServer>();
  TestOrb client;
  // Makes a reference to two servers with an object of the same key. The second profile names the other server.
  giop::Ior ior = *giop::parse_ior(test.server.ior());
  ior.profiles.insert(ior.profiles.begin(), giop::parse_ior(other->ior())->profiles.front());
  const auto probe = core::make_stub<Probing::Probe>(std::make_shared<core::Reference>(client.orb.shared(), ior));
  probe->ping();
  CHECK(other->servant->pings == 1);
  other.reset();
  probe->ping();
  probe->ping();
  CHECK(test.server.servant->pings == 2);
}

TEST_CASE("an object of this process is found by any of its profiles") {
  Fixture test;
  const Unused dead;
  const auto probe = test.at(test.server.orb, {dead.port(), test.live});
  CHECK(probe->_reference()->is_local());
  CHECK(probe->add(1, 2) == 3);
}

}  // namespace several_addresses_test
