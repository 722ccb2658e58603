// Tests calls through channels. Long messages are not copied on the way. A request that a dead server never looked at
// did not run.
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "orb/base/minor.h"
#include "orb/core/client/reference.h"
#include "orb/core/connections/client_connection.h"
#include "orb/core/lifecycle/orb_state.h"
#include "orb/transport/channel/channel.h"
#include "tests/support/peers/forked_peer.h"
#include "tests/support/probe_servant.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::testing;

namespace {

constexpr std::size_t mebi = 1024 * 1024;

struct OverOneChannel {
  explicit OverOneChannel(const std::string& pool = "1376256")
      : server({"-ORBEndpointListen", "channel:" + directory / "c", "-ORBChannelPool", pool}),
        client({"-ORBChannelPool", pool}),
        probe(probe_of(client, server.ior())) {}
  // Returns the loans of the client's end: requests out, replies in.
  transport::Connection::Loans loans() {
    return (*client->state().connect(*probe->_reference()->address(), never))->stream().loans();
  }

  const TempDirectory directory{};
  ProbeServer server;
  TestOrb client;
  CORBA::object_reference<Probing::Probe> probe;
};

// How the server ends: killed before or after it looked at the request, or after it wrote garbage into its channel.
enum class Victim { never_looks, looks, scribbles };

// Overwrites all memory of this process's channels that it may write.
void scribble() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("corelane-channel") == line.npos || line.find("rw-s") == line.npos) continue;
    const std::size_t dash = line.find('-');
    const auto begin = std::stoull(line.substr(0, dash), nullptr, 16),
               end = std::stoull(line.substr(dash + 1), nullptr, 16);
    auto* words = reinterpret_cast<std::uint64_t*>(begin);
    for (std::size_t i = 0; end - begin > 4096 && i < (end - begin) / 8; ++i)
      words[i] = 0x1'ffff'ffff;  // lap 1, endless
  }
}

// Returns the error of a call whose server dies after the request is in its ring.
Error error_of_call(Victim kind) {
  Meeting meeting({.wake = channel::Wake::eventfd});
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const os::Fd in(ends[0]), out(ends[1]);
  const pid_t child = meeting.fork_child(ChildIs::acceptor, [&](channel::Channel& channel) {
    if (kind != Victim::never_looks && !channel.wait(soon())) return 1;
    if (kind == Victim::scribbles) scribble();
    if (write(out.get(), "x", 1) != 1) return 2;
    pause();
    return 3;
  });
  auto reactor = transport::Reactor::start();
  REQUIRE(reactor);
  transport::ChannelTransport transport(**reactor);
  auto stream = transport.connect(transport::channel_endpoint(meeting.path()), soon());
  REQUIRE(stream);
  Error error;
  {
    core::ClientConnection connection(std::move(*stream), {});
    core::PendingReply pending;
    const Bytes request = as_bytes("a request");
    REQUIRE(connection.start(pending, 1, std::span{&request, 1}, never));
    char said = 0;
    REQUIRE(read(in.get(), &said, 1) == 1);
    kill(child, SIGKILL);
    REQUIRE(end_of(child) == -SIGKILL);
    REQUIRE(connection.wait(pending, soon(), {}));
    REQUIRE_FALSE(pending.answered());
    error = pending.error();
  }
  (*reactor)->stop();
  return error;
}

}  // namespace

TEST_CASE("a request of a mebibyte and its reply are marshalled where they cross and demarshalled there") {
  OverOneChannel test;
  const std::string text(mebi, 'x');
  for (std::uint64_t calls = 1; calls <= 3; ++calls) {
    CHECK(test.probe->echo(text) == text);
    CHECK(test.loans().sent == calls);
    CHECK(test.loans().received == calls);
  }
}

TEST_CASE("short messages and those longer than the pool are copied") {
  OverOneChannel test("131072");
  for (const std::size_t size : {std::size_t{10}, std::size_t{30'000}, std::size_t{200'000}, 2 * mebi}) {
    const std::string text(size, 'y');
    CHECK(test.probe->echo(text) == text);
  }
  CHECK(test.loans().sent == 0);
}

TEST_CASE("a message that outgrows what was lent first goes on in more of it") {
  OverOneChannel test;
  Probing::Point state{.x = 1, .label = std::string(100'000, 'a'), .samples = std::vector<double>(20'000, 0.5)};
  Probing::Mode mode{};
  CHECK(test.probe->step(2, state, mode) == 3);
  CHECK(state.samples.size() == 20'001);
  CHECK(test.loans().sent == 1);
}

TEST_CASE("several threads send long requests through one channel at once") {
  OverOneChannel test;
  std::atomic<int> right{0};
  {
    std::vector<std::jthread> callers;
    for (int t = 0; t < 4; ++t)
      callers.emplace_back([&, t] {
        const std::string text(300'000 + static_cast<std::size_t>(t) * 200'000, static_cast<char>('a' + t));
        for (int i = 0; i < 20; ++i) right += test.probe->echo(text) == text;
      });
  }
  CHECK(right == 80);
}

TEST_CASE("a call through a channel that its server spoiled says so") {
  const Error spoiled = error_of_call(Victim::scribbles);
  CHECK(spoiled == Error{ErrorKind::comm_failure, Completion::maybe, minor::channel_spoiled});
  CHECK_THAT(std::string(minor::text(spoiled.minor)), Catch::Contains("wrote invalid data"));
}

TEST_CASE("a request that a dead server never looked at did not run and one that it did look at may have") {
  const Error unread = error_of_call(Victim::never_looks);
  const Error looked_at = error_of_call(Victim::looks);
  CHECK(unread == Error{ErrorKind::comm_failure, Completion::no, minor::connection_lost});
  CHECK(looked_at == Error{ErrorKind::comm_failure, Completion::maybe, minor::connection_lost});
}
