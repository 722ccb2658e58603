// Tests which connection is closed when there are as many connections as allowed. A connection whose watcher does not
// say that it is idle is never closed; the suite of all byte streams tests that.
#include <array>
#include <atomic>
#include <catch2/catch.hpp>

#include "orb/base/minor.h"
#include "orb/base/peer.h"
#include "tests/orb/transport/kinds.h"
#include "tests/support/quiet.h"

using namespace corelane;
using namespace corelane::testing;

namespace {

class Yielding final : public Collector {
 public:
  explicit Yielding(ConnectionPtr connection) : connection_(std::move(connection)) {}
  bool is_idle() noexcept override { return idle.load(); }
  void on_evict() noexcept override { connection_->close(); }
  void let_go() { connection_->unwatch(), connection_.reset(); }

  std::atomic<bool> idle{true};

 private:
  ConnectionPtr connection_;
};

// Connects. Retries, because only the reactor can make room, and it may be late.
template <typename Kind>
ConnectionPtr patient_caller(StreamHarness<Kind>& harness) {
  const Time until = patience();
  auto caller = harness.transport->connect(harness.listener->endpoint(), until);
  while (!caller && os::now() < until) caller = harness.transport->connect(harness.listener->endpoint(), until);
  REQUIRE(caller);
  return std::move(*caller);
}

}  // namespace

TEMPLATE_TEST_CASE("connections of one host or user are different peers of one holder", "", TcpV4, UnixSocket,
                   SharedMemory) {
  StreamHarness<TestType> harness, other;
  const Pair first = harness.connect(), second = harness.connect(), elsewhere = other.connect();
  CHECK(first.called->id() != second.called->id());
  CHECK(corelane::same_holder(first.called->id(), second.called->id()));
  CHECK(corelane::same_holder(first.called->id(), elsewhere.called->id()));
  CHECK_FALSE(corelane::same_holder(first.caller->id(), second.caller->id()));
}

TEMPLATE_TEST_CASE("a new connection replaces the one that was quiet for longest, but none that is busy", "", TcpV4,
                   UnixSocket, SharedMemory, Apart<TcpV4>, Apart<SharedMemory>) {
  const Quiet quiet;
  const bool by_peer = GENERATE(true, false);
  StreamHarness<TestType> harness({.connections = by_peer ? 100u : 3u, .connections_per_peer = by_peer ? 3u : 100u});
  std::array<ConnectionPtr, 3> callers;
  std::array<std::shared_ptr<Yielding>, 3> called;
  for (std::size_t i = 0; i < callers.size(); ++i) {
    const auto [caller, end] = harness.connect();
    callers[i] = caller;
    end->watch(called[i] = std::make_shared<Yielding>(end));
    end->note_first_message();
  }
  for (const std::size_t i : {1u, 2u, 0u}) {
    REQUIRE(send(callers[i], "x"));
    called[i]->wait_for(1);
  }
  called[1]->idle = false;
  const ConnectionPtr caller = patient_caller(harness);
  const Pair incoming{caller, harness.accepted.take()};
  CHECK(called[2]->closed.take().minor == minor::closed_here);
  CHECK(read(callers[2], 1).empty());
  called[0]->idle = false;
  const auto refused = harness.transport->connect(harness.listener->endpoint(), patience());
  if (refused) CHECK(read(*refused, 1).empty());
  REQUIRE(send(incoming.caller, "y"));
  CHECK(read(incoming.called, 1) == "y");
  for (const std::size_t i : {0u, 1u}) CHECK(called[i]->closed.empty());
  for (const auto& end : called) end->let_go();
}

TEMPLATE_TEST_CASE("where many connections sent no whole message the oldest of those goes first", "", TcpV4, UnixSocket,
                   SharedMemory) {
  const Quiet quiet;
  const bool many = GENERATE(true, false);
  StreamHarness<TestType> harness({.connections = 5});
  const std::array sent_message{true, !many, false, true, !many};
  std::array<ConnectionPtr, 5> callers;
  std::array<std::shared_ptr<Yielding>, 5> called;
  for (std::size_t i = 0; i < callers.size(); ++i) {
    const auto [caller, end] = harness.connect();
    callers[i] = caller;
    end->watch(called[i] = std::make_shared<Yielding>(end));
    if (sent_message[i]) end->note_first_message();
  }
  for (const std::size_t i : {2u, 0u, 4u, 1u, 3u}) {
    REQUIRE(send(callers[i], "x"));
    called[i]->wait_for(1);
  }
  std::vector<Pair> new_connections;
  const auto order = many ? std::vector{1u, 2u, 4u, 0u, 3u} : std::vector{0u};
  for (const std::size_t next : order) {
    const ConnectionPtr caller = patient_caller(harness);
    new_connections.push_back(
        {caller, harness.accepted.take()});  // it has no reader, so it is never closed to make room
    CHECK(called[next]->closed.take().minor == minor::closed_here);
    for (const auto& end : called) CHECK(end->closed.empty());
  }
  for (const auto& end : called) end->let_go();
}

TEST_CASE("a new channel that a busy reactor could not set up in time ends no other connection afterwards") {
  const Quiet quiet;
  StreamHarness<SharedMemory> harness({.connections = 1});
  const Pair idle = harness.connect();
  const auto called = std::make_shared<Yielding>(idle.called);
  idle.called->watch(called);
  const auto connect = [&] { return harness.transport->connect(harness.listener->endpoint(), patience()); };
  Mailbox<bool> busy, go_on, rested;
  harness.reactor->post([&] { busy.put(true), go_on.take(); });
  busy.take();
  CHECK_FALSE(connect());
  CHECK_FALSE(connect());  // meanwhile nothing more is asked of the reactor
  harness.reactor->post([&] { rested.put(true); });
  go_on.put(true);
  rested.take();
  CHECK(called->closed.empty());
  CHECK(patient_caller(harness));
  CHECK(called->closed.take().minor == minor::closed_here);
  called->let_go();
}
