// Tests that a client keeps nothing of servers that have ended, nor of connections that it does not use.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "orb/core/client/async_invocation.h"
#include "orb/core/client/reference.h"
#include "orb/core/connections/connection_cache.h"
#include "orb/core/lifecycle/orb_state.h"
#include "orb/rt/rt.h"
#include "tests/support/probe_servant.h"
#include "tests/support/quiet.h"
#include "tests/support/system/temp_directory.h"

namespace ended_peers_test {

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

std::size_t descriptors() {
  const std::filesystem::directory_iterator begin("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin, std::filesystem::directory_iterator{}));
}

std::size_t mapped_channels() {
  std::size_t count = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) count += line.find("corelane-channel") != std::string::npos;
  return count;
}

// Returns how many threads for the replies of asynchronous calls there are.
std::size_t reply_threads() {
  std::size_t count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "comm");
    std::string comm;
    count += std::getline(file, comm) && comm.starts_with("cl-replies-");
  }
  return count;
}

// Returns whether the condition becomes true within a minute.
template <typename Condition>
bool comes_true(Condition condition) {
  for (const Time end = os::now() + 60s; os::now() < end;) {
    if (condition()) return true;
    std::this_thread::sleep_for(1ms);  // sleep: there is no event to wait for
  }
  return false;
}

// Calls add() through an asynchronous stub. Returns when the reply has come.
void add_asynchronously(const CORBA::object_reference<Probing::Probe>& probe) {
  static constexpr core::Operation add{.name = "add"};
  std::promise<bool> ended;
  core::AsyncInvocation call(*probe, add);
  call.marshal(std::int32_t{3}, std::int32_t{4});
  call.send([&](core::AsyncReply& reply) {
    std::int32_t sum = 0;
    ended.set_value(reply.unmarshal(sum) && sum == 7);
  });
  CHECK(ended.get_future().get());
}

struct Kinds {
  static std::string any() { return GENERATE(as<std::string>{}, "127.0.0.1:0", "unix:", "channel:"); }
};

struct Fixture {
  // Starts a server, at its own path if the kind of endpoint has one.
  std::unique_ptr<ProbeServer> serve(const std::string& kind) {
    const std::string at = kind.ends_with(':') ? kind + directory / std::to_string(++number) : kind;
    return std::make_unique<ProbeServer>(std::vector<std::string>{"-ORBEndpointListen", at});
  }

  const Quiet quiet{};
  const TempDirectory directory{};
  int number = 0;
  TestOrb client;
};

}  // namespace

TEST_CASE("a client of servers that have ended holds none of their connections, channels and threads") {
  Fixture test;
  const std::string kind = Kinds::any();
  const bool asynchronous = GENERATE(false, true);
  {
    const auto first = test.serve(kind);  // so that everything exists that the process keeps in any case
    add_asynchronously(probe_of(test.client, first->ior()));
  }
  REQUIRE(comes_true([&] { return test.client->state().connections.size() == 0 && reply_threads() == 0; }));
  const std::size_t channels = mapped_channels(), before = descriptors();
  std::vector<CORBA::object_reference<Probing::Probe>> kept;
  for (int i = 0; i < 20; ++i) {
    const auto server = test.serve(kind);
    kept.push_back(probe_of(test.client, server->ior()));
    CHECK(kept.back()->add(1, 2) == 3);
    std::jthread([&] { CHECK(kept.back()->add(1, 2) == 3); }).join();
    if (asynchronous) add_asynchronously(kept.back());
  }
  CHECK(comes_true([&] { return test.client->state().connections.size() == 0; }));
  CHECK(comes_true([&] { return reply_threads() == 0; }));
  CHECK(comes_true([&] { return mapped_channels() <= channels; }));
  CHECK(comes_true([&] { return descriptors() <= before; }));
}

TEST_CASE("a client notices at once that its server has ended, and calls the next one at that place without an error") {
  Fixture test;
  const std::string path = test.directory / "same.sock";
  auto server = std::make_unique<ProbeServer>(std::vector<std::string>{"-ORBEndpointListen", "unix:" + path});
  const auto probe = probe_of(test.client, server->ior());
  CHECK(probe->add(1, 2) == 3);
  server.reset();
  CHECK(comes_true([&] { return test.client->state().connections.size() == 0; }));
  CHECK_THROWS_AS(probe->add(1, 2), CORBA::TRANSIENT);
}

TEST_CASE("an idle connection of a client is closed after timeout.idle, and made again by the next call") {
  Fixture test;
  const auto server = test.serve(Kinds::any());
  TestOrb client({"-ORBTimeoutIdle", "20ms"});
  const auto probe = probe_of(client, server->ior());
  for (int i = 0; i < 3; ++i) {
    CHECK(probe->add(i, 2) == i + 2);
    CHECK(comes_true([&] { return client->state().connections.size() == 0; }));
  }
}

TEST_CASE("a connection that calls wait on is not idle, and one that a task lives by is none either") {
  Fixture test;
  const auto server = test.serve("127.0.0.1:0");
  TestOrb client({"-ORBTimeoutIdle", "20ms"});
  const auto probe = probe_of(client, server->ior());
  const auto task =
      rt::admit(probe, {.operation = "add", .contract = {.period = 100ms, .deadline = 100ms, .budget = 1ms}});
  REQUIRE(task);
  const auto owner = probe->_reference()->binding_of("add")->connection(true);
  std::jthread waits([&] { probe->block(); });
  server->servant->wait_until_blocked();
  std::this_thread::sleep_for(100ms);  // sleep: several idle times
  CHECK(owner->open());
  server->servant->release();
  CHECK(probe->add(1, 2) == 3);
}

TEST_CASE("the thread of asynchronous calls ends when they have, and further ones get another") {
  Fixture test;
  const auto server = test.serve("127.0.0.1:0");
  const auto probe = probe_of(test.client, server->ior());
  for (int i = 0; i < 3; ++i) {
    add_asynchronously(probe);
    CHECK(comes_true([&] { return reply_threads() == 0; }));
  }
}

TEST_CASE("asynchronous calls come to their ends while threads of theirs end and begin") {
  Fixture test;
  const auto server = test.serve("127.0.0.1:0");
  const auto probe = probe_of(test.client, server->ior());
  std::vector<std::jthread> callers;
  for (int t = 0; t < 4; ++t)
    callers.emplace_back([&, t] {
      for (int i = 0; i < 6; ++i) {
        add_asynchronously(probe);
        const std::chrono::milliseconds linger{95 + 3 * t + i};
        std::this_thread::sleep_for(linger);  // sleep: about as long as a thread waits for its next call
      }
    });
}

}  // namespace ended_peers_test
