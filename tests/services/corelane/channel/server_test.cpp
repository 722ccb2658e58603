// A server in another process is called through a channel. The server dies or is stopped; its clients die or are
// stopped. CORELANE_STOPPED_SECONDS sets the least time of a stop (0).
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <thread>

#include "orb/core/client/reference.h"
#include "orb/core/connections/client_connection.h"
#include "orb/core/lifecycle/orb_state.h"
#include "orb/os/clock.h"
#include "orb/os/process/child_process.h"
#include "services/corelane/references/ping.h"
#include "tests/support/peers/probe_peer.h"
#include "tests/support/probe_servant.h"
#include "tests/support/quiet.h"
#include "tests/support/system/from_environment.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::testing;

namespace {

class ChannelServer {
 public:
  explicit ChannelServer(const std::string& path)
      : process_({os::program_beside("corelane-quickstart-server"), "-ORBRuntimeLedger", "off", "-ORBPoolRealTime",
                  "off", "-ORBLogLevel", "off", "-ORBEndpointListen", "channel:" + path}),
        reference(process_.read_line().value_or("")) {}

  void stop() { REQUIRE(stop_process(process_.pid())); }
  void go_on() { REQUIRE(kill(process_.pid(), SIGCONT) == 0); }
  void die() {
    REQUIRE(kill(process_.pid(), SIGKILL) == 0);
    process_.wait();
  }
  // Returns the number of its descriptors whose links begin with `kind`.
  std::ptrdiff_t descriptors(const std::string& kind) const {
    const std::filesystem::directory_iterator all("/proc/" + std::to_string(process_.pid()) + "/fd");
    return std::count_if(begin(all), end(all), [&](const auto& entry) {
      std::error_code closed_meanwhile;
      return read_symlink(entry.path(), closed_meanwhile).native().starts_with(kind);
    });
  }
  bool lives() const { return is_alive(process_); }

 private:
  os::ChildProcess process_;

 public:
  const std::string reference;
};

struct ChannelWorld {
  const TempDirectory directory{};
  ChannelServer server{directory / "channel"};
};

// Calls until there is an answer, however slow the machine is.
void call_until_answered(CORBA::Object& object) {
  while (true) try {
      if (!object._non_existent()) return;
    } catch (const CORBA::TIMEOUT&) {
      continue;
    }
}

// Returns the connection that the object's calls use.
std::shared_ptr<core::ClientConnection> connection_of(TestOrb& client, const CORBA::Object& object) {
  return client->state().connect(*object._reference()->address(), never).value();
}

Duration stopped_time() { return std::chrono::seconds{from_environment("CORELANE_STOPPED_SECONDS", 0)}; }

}  // namespace

TEST_CASE("a server that is killed behind a channel ends calls and leaves a path that its successor takes") {
  const Quiet quiet;
  const TempDirectory directory;
  TestOrb client;
  for (int life = 0; life < 3; ++life) {
    ChannelServer server(directory / "channel");
    const auto object = client->string_to_object(server.reference);
    REQUIRE_FALSE(object->_non_existent());
    std::thread killer([&] { server.die(); });
    CHECK_THROWS_AS(
        [&] {
          while (true) object->_non_existent();
        }(),
        CORBA::SystemException);
    killer.join();
  }
}

TEST_CASE("a server that is stopped behind a channel lets calls time out and goes on over the same one") {
  ChannelWorld world;
  TestOrb client({"-ORBTimeoutRequest", "100ms"});
  const auto object = client->string_to_object(world.server.reference);
  call_until_answered(*object);
  const auto connection = connection_of(client, *object);
  CHECK(connection->peer().kind == &transport::kinds::channel);
  world.server.stop();
  const Time until = os::now() + stopped_time();
  do CHECK_THROWS_AS(object->_non_existent(), CORBA::TIMEOUT);
  while (os::now() < until);
  world.server.go_on();
  call_until_answered(*object);
  CHECK(connection_of(client, *object) == connection);
  TestOrb patient;
  CHECK_FALSE(patient->string_to_object(world.server.reference)->_non_existent());
}

TEST_CASE("a client that is stopped behind a channel delays no other client and goes on") {
  const TempDirectory directory;
  ProbeServer server({"-ORBEndpointListen", "channel:" + directory / "channel"});
  ProbePeer client({"call", server.ior(), "1000000000", "-ORBTimeoutRequest", "600s"});
  const auto await_pings = [&](int more) {
    for (const int before = server.servant->pings; server.servant->pings < before + more; std::this_thread::yield())
      if (!client.lives()) FAIL("the client ended");
  };
  await_pings(10);
  REQUIRE(stop_process(client.pid()));
  TestOrb other;
  const auto probe = probe_of(other, server.ior());
  const Time until = os::now() + stopped_time();
  for (std::int32_t i = 0; i < 100 || os::now() < until; ++i) REQUIRE(probe->add(i, 1) == i + 1);
  REQUIRE(kill(client.pid(), SIGCONT) == 0);
  await_pings(100);
}

TEST_CASE("clients that are killed in the middle of calls leave nothing in a server behind a channel") {
  ChannelWorld world;
  TestOrb client;
  const auto object = client->string_to_object(world.server.reference);
  REQUIRE_FALSE(object->_non_existent());
  const std::string sockets = "socket:", epolls = "anon_inode:[eventpoll]";  // one of each per connection
  const auto sockets_before = world.server.descriptors(sockets), epolls_before = world.server.descriptors(epolls);
  for (int i = 0; i < 5; ++i) {
    os::ChildProcess other(
        {os::program_beside("corelane"), "ping", "--calls", "1000000", "--interval", "10us", world.server.reference});
    while (world.server.descriptors(epolls) <= epolls_before) {
      REQUIRE(is_alive(other));
      std::this_thread::yield();
    }
    kill(other.pid(), SIGKILL);
    other.wait();
    while (world.server.descriptors(epolls) > epolls_before || world.server.descriptors(sockets) > sockets_before) {
      REQUIRE(world.server.lives());
      std::this_thread::yield();
    }
  }
  CHECK_FALSE(object->_non_existent());
}
