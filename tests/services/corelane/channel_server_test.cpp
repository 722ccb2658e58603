// A server in a process of its own, called through a channel: it dies, it is stopped, its clients die.
#include <signal.h>
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <thread>

#include "orb/core/orb_state.h"
#include "orb/core/reference.h"
#include "orb/os/child_process.h"
#include "services/corelane/ping.h"
#include "tests/support/probe_servant.h"
#include "tests/support/quiet.h"
#include "tests/support/temp_directory.h"

using namespace corelane;
using namespace corelane::testing;

namespace {

class ChannelServer {
 public:
  explicit ChannelServer(const std::string& path)
      : process_({os::program_beside("corelane-quickstart-server"), "-ORBRuntimeLedger", "off", "-ORBPoolRealTime",
                  "off", "-ORBLogLevel", "off", "-ORBEndpointListen", "channel:" + path}),
        reference(process_.read_line().value_or("")) {}

  // Returns once the kernel has done it.
  void stop() {
    REQUIRE(kill(process_.pid(), SIGSTOP) == 0);
    int status = 0;
    REQUIRE(waitpid(process_.pid(), &status, WUNTRACED) == process_.pid());
    REQUIRE(WIFSTOPPED(status));
  }
  void go_on() { REQUIRE(kill(process_.pid(), SIGCONT) == 0); }
  void die() {
    REQUIRE(kill(process_.pid(), SIGKILL) == 0);
    process_.wait();
  }
  std::size_t descriptors() const {
    const std::filesystem::directory_iterator begin("/proc/" + std::to_string(process_.pid()) + "/fd");
    return static_cast<std::size_t>(std::distance(begin, std::filesystem::directory_iterator{}));
  }

 private:
  os::ChildProcess process_;

 public:
  const std::string reference;
};

// Descriptors of one connection through a channel: the socket, the peer's process, two eventfds of each end, and what
// watches them.
constexpr std::size_t of_connection = 7;

struct ChannelWorld {
  const TempDirectory directory{};
  ChannelServer server{directory / "channel"};
};

// However slow the machine is.
void call_until_answered(CORBA::Object& object) {
  while (true) try {
      if (!object._non_existent()) return;
    } catch (const CORBA::TIMEOUT&) {
      continue;
    }
}

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

TEST_CASE("a server that is stopped behind a channel lets calls time out and answers when it goes on") {
  ChannelWorld world;
  TestOrb client({"-ORBTimeoutRequest", "100ms"});
  const auto object = client->string_to_object(world.server.reference);
  call_until_answered(*object);
  world.server.stop();
  CHECK_THROWS_AS(object->_non_existent(), CORBA::TIMEOUT);
  world.server.go_on();
  TestOrb patient;
  CHECK_FALSE(patient->string_to_object(world.server.reference)->_non_existent());
}

TEST_CASE("clients that are killed in the middle of calls leave nothing in a server behind a channel") {
  ChannelWorld world;
  TestOrb client;
  const auto object = client->string_to_object(world.server.reference);
  REQUIRE_FALSE(object->_non_existent());
  const std::size_t before = world.server.descriptors();
  for (int i = 0; i < 5; ++i) {
    os::ChildProcess other({os::program_beside("corelane"), "ping", "--calls", "1000000", world.server.reference});
    while (world.server.descriptors() < before + of_connection) std::this_thread::yield();
    kill(other.pid(), SIGKILL);
    other.wait();
    while (world.server.descriptors() >= before + of_connection) std::this_thread::yield();
  }
  CHECK_FALSE(object->_non_existent());
}
