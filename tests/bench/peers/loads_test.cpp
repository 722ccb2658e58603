#include "bench/peers/driver/loads.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <set>
#include <stdexcept>

namespace {

struct Server {
  std::atomic<std::int64_t> connections{0}, pings{0}, pushed{0}, tried{0};
  std::int64_t fail_ping_after = 1'000'000'000;
  std::int64_t lose_every = 0, refuse_every = 0;
};

class FakeCaller : public peers::Caller {
 public:
  explicit FakeCaller(Server& server) : server_(server) { ++server_.connections; }
  std::int64_t ping(std::int64_t value) override {
    if (++server_.pings > server_.fail_ping_after) throw std::runtime_error("the server is gone");
    return value + 1;
  }
  void push(peers::Octets) override {
    const std::int64_t number = ++server_.tried;
    if (server_.refuse_every != 0 && number % server_.refuse_every == 0) throw std::runtime_error("no room");
    if (server_.lose_every == 0 || number % server_.lose_every != 0) ++server_.pushed;
  }
  std::int64_t pushed() override { return server_.pushed; }
  peers::Octets echo(peers::Octets) override { return {}; }

 private:
  Server& server_;
};

struct FakePeer : peers::Peer {
  Server server;
  std::unique_ptr<peers::Caller> connect() override { return std::make_unique<FakeCaller>(server); }
};

std::int64_t number_in(const peers::Record& record, const std::string& key) {
  const std::string text = record.text();
  const auto place = text.find("\"" + key + "\": ");
  return place == std::string::npos ? -1 : std::stoll(text.substr(place + key.size() + 4));
}

}  // namespace

TEST_CASE("calls are made after others to warm up and all are counted") {
  FakePeer peer;
  const auto record = peers::apply_load({.calls = 50, .warm_up = 7}, peer);
  CHECK(peer.server.pings == 57);
  CHECK(number_in(record, "count") == 50);
  CHECK(number_in(record, "p50_ns") >= 0);
  CHECK(number_in(record, "client_cpu_ns") >= 0);
}

TEST_CASE("calls of a rate keep to it however they wait") {
  for (const char* pace : {"sleep", "due", "spin"}) {
    FakePeer peer;
    const auto record = peers::apply_load({.calls = 20, .warm_up = 0, .rate = 10'000, .pace = pace}, peer);
    CHECK(number_in(record, "elapsed_ns") >= 20 * 100'000);
  }
}

TEST_CASE("extra connections make one call each and stay open") {
  FakePeer peer;
  (void)peers::apply_load({.calls = 1, .warm_up = 0, .extra_connections = 5}, peer);
  CHECK(peer.server.connections == 6);
  CHECK(peer.server.pings == 6);
}

TEST_CASE("wrong octets from the server are a failure") {
  FakePeer peer;
  CHECK_THROWS_WITH(peers::apply_load({.operation = "echo", .calls = 1, .warm_up = 0, .size = 8}, peer),
                    "wrong octets came back: 0 of 8");
}

TEST_CASE("an operation that the peer lacks is a failure") {
  FakePeer peer;
  CHECK_THROWS_WITH(peers::apply_load({.operation = "put", .calls = 1, .warm_up = 0}, peer),
                    "this peer has no operation put");
}

TEST_CASE("each thread of a throughput load has a caller of its own") {
  FakePeer peer;
  const auto record =
      peers::apply_load({.load = "throughput", .threads = 3, .duration = std::chrono::milliseconds{5}}, peer);
  CHECK(peer.server.connections == 3);
  CHECK(peer.server.pings >= 3);
  CHECK(number_in(record, "calls") <= peer.server.pings);
}

TEST_CASE("a call that fails in one thread fails the throughput load") {
  FakePeer peer;
  peer.server.fail_ping_after = 20;
  CHECK_THROWS_WITH(
      peers::apply_load({.load = "throughput", .threads = 2, .duration = std::chrono::milliseconds{1}}, peer),
      "the server is gone");
}

TEST_CASE("oneways that fail are counted with their first reason and the others arrive") {
  FakePeer peer;
  peer.server.refuse_every = 10;
  const auto record =
      peers::apply_load({.load = "oneways", .warm_up = 0, .duration = std::chrono::milliseconds{1}}, peer);
  CHECK(number_in(record, "failed") == peer.server.tried / 10);
  CHECK(number_in(record, "sent") == peer.server.tried - peer.server.tried / 10);
  CHECK(number_in(record, "calls") == peer.server.pushed);
  CHECK(number_in(record, "lost") == 0);
  CHECK(record.text().find(R"("fault": "no room")") != std::string::npos);
}

TEST_CASE("oneways that never arrive are lost") {
  FakePeer peer;
  peer.server.lose_every = 8;
  const auto record =
      peers::apply_load({.load = "oneways", .warm_up = 0, .duration = std::chrono::milliseconds{1}}, peer);
  CHECK(number_in(record, "lost") == peer.server.tried / 8);
  CHECK(number_in(record, "failed") == 0);
}

TEST_CASE("an unknown load or pace is refused by name") {
  FakePeer peer;
  CHECK_THROWS_WITH(peers::apply_load({.pace = "frob"}, peer), "--pace is sleep, due or spin, not 'frob'");
  CHECK_THROWS_WITH(peers::apply_load({.load = "frob"}, peer), "unknown load 'frob'");
}
