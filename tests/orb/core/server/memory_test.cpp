// Tests how much memory all clients together can make a server hold, and that well-behaved clients are served
// meanwhile.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "orb/core/client/reference.h"
#include "orb/core/lifecycle/orb_state.h"
#include "orb/rt/rt.h"
#include "tests/support/await.h"
#include "tests/support/peers/bare_sender.h"
#include "tests/support/probe_servant.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kib = 1024, mib = 1024 * kib, longest = 16 * mib;

// A servant whose note() waits until release(), and then counts the bytes.
class SlowServant final : public ProbeServant {
 public:
  void note(const std::string& text) override {
    released.wait(false);
    noted.fetch_add(text.size(), std::memory_order_relaxed);  // relaxed: a count that a test waits for
  }
  std::string echo(const std::string& text) override { return std::string(std::stoul(text), 'r'); }
  std::atomic<std::size_t> noted{0};
};

struct SlowServer {
  explicit SlowServer(std::vector<std::string> more = {})
      : orb(options(std::move(more))), servant(CORBA::make_reference<SlowServant>()) {
    orb.root()->the_POAManager()->activate();
    ior = orb->object_to_string(orb.root()->servant_to_reference(servant));
    const auto reference = IDL::traits<Probing::Probe>::narrow(orb->string_to_object(ior));
    key = reference->_reference()->address()->object_key;
  }
  ~SlowServer() { servant->release(); }
  std::vector<std::string> options(std::vector<std::string> more) const {
    std::vector<std::string> all{"-ORBRuntimeDirectory",         directory.path(),     "-ORBEndpointListen",
                                 "127.0.0.1:0, unix:, channel:", "-ORBTimeoutRequest", "100s"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  const transport::MemoryBudget& memory() const { return *orb.orb->state().memory; }
  // Returns the most that one peer can hold: its share, one message that continues, and one read.
  std::size_t most() const { return memory().bounds().of_peer + memory().bounds().message + 2 * 64 * kib; }
  std::unique_ptr<BareSender> sender(const transport::TransportKind* kind) const {
    const auto& all = orb->endpoints();
    const auto endpoint = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.kind == kind; });
    return std::make_unique<BareSender>(*endpoint, key);
  }

  const TempDirectory directory;
  TestOrb orb;
  CORBA::servant_reference<SlowServant> servant;
  std::string ior;
  std::vector<std::byte> key;
};

// Starts a client that makes calls, and then sends `size` bytes in one call.
bool serves(const SlowServer& server, int calls, std::size_t size = 0) {
  TestOrb client(server.options({}));
  const auto probe = probe_of(client, server.ior);
  for (int i = 0; i < calls; ++i)
    if (probe->add(i, 1) != i + 1) return false;
  if (size > 0) probe->name(std::string(size, 'n'));
  return true;
}

void await_free(const SlowServer& server) {
  await("the server holds nothing of its clients", [&] { return server.memory().used() == 0; });
}

std::string listen_at(const transport::TransportKind* kind) {
  return kind == &transport::kinds::tcp ? "127.0.0.1:0" : "unix:";
}

}  // namespace

TEST_CASE("a client that sends long oneways to a slow servant is read no further, and loses none of them") {
  const std::size_t size = GENERATE(1 * kib, 256 * kib, longest - kib);
  const std::string listen = GENERATE("127.0.0.1:0", "unix:", "channel:");
  const std::size_t count = std::clamp<std::size_t>(6 * longest / size, 6, 3000);
  SlowServer server({"-ORBEndpointListen", listen});
  std::atomic<bool> all_sent{false};
  TestOrb client(server.options({}));
  const auto probe = probe_of(client, server.ior);
  std::jthread sender([&] {
    const std::string text(size, 'x');
    for (std::size_t i = 0; i < count; ++i) probe->note(text);
    all_sent.store(true, std::memory_order_relaxed);  // relaxed: nothing else depends on the flag
  });
  std::size_t most = 0;
  for (int i = 0; i < 40; ++i) {
    CHECK(serves(server, 1));
    most = std::max(most, server.memory().used());
  }
  CHECK(most <= server.most());
  if (size == longest - kib) CHECK_FALSE(all_sent.load(std::memory_order_relaxed));  // relaxed: as above
  server.servant->release();
  sender.join();
  await("all oneways have run", [&] { return server.servant->noted >= count * size; });
  await_free(server);
}

TEST_CASE("many clients that send long oneways hold no more together than one, and lose none of them") {
  constexpr std::size_t clients = 4, count = 3;
  const std::size_t size = GENERATE(256 * kib, longest - kib);
  SlowServer server;
  std::vector<std::jthread> senders;
  for (std::size_t i = 0; i < clients; ++i)
    senders.emplace_back([&] {
      TestOrb client(server.options({"-ORBEndpointListen", "127.0.0.1:0"}));
      const auto probe = probe_of(client, server.ior);
      const std::string text(size, 'x');
      for (std::size_t n = 0; n < count; ++n) probe->note(text);
      probe->ping();
    });
  std::size_t most = 0;
  for (int i = 0; i < 20; ++i) {
    CHECK(serves(server, 1));
    most = std::max(most, server.memory().used());
  }
  CHECK(most <= server.most() + clients * 64 * kib);
  server.servant->release();
  senders.clear();
  await("all oneways have run", [&] { return server.servant->noted >= clients * count * size; });
  await_free(server);
}

TEST_CASE("halves that stay halves are bounded, and end where another client of the same peer needs room") {
  constexpr std::size_t clients = 24;
  const auto kind = GENERATE(&transport::kinds::tcp, &transport::kinds::unix_socket);
  SlowServer server({"-ORBTimeoutHeader", "4s", "-ORBEndpointListen", listen_at(kind)});
  std::vector<std::unique_ptr<BareSender>> halves;
  for (std::size_t i = 0; i < clients; ++i) halves.push_back(server.sender(kind));
  {
    const auto message = halves.front()->request("note", std::string(longest - kib, 'x'));
    std::vector<std::jthread> senders;  // declared after what they send
    for (const auto& each : halves)
      senders.emplace_back([&] { (void)each->send(Bytes(message).first(message.size() - 1)); });
    std::size_t most = 0;
    for (int i = 0; i < 10; ++i) {
      CHECK(serves(server, 10, 256 * kib));
      most = std::max(most, server.memory().used());
    }
    CHECK(serves(server, 1, longest - kib));
    CHECK(most <= server.most() + clients * 64 * kib);
    for (const auto& each : halves) each->end();
  }
  await_free(server);
  CHECK(server.servant->noted == 0);
}

TEST_CASE("clients that take no replies are bounded together, end where others need room, and harm no other client") {
  constexpr std::size_t clients = 8;
  const auto kind = GENERATE(&transport::kinds::tcp, &transport::kinds::unix_socket);
  SlowServer server({"-ORBTimeoutHeader", "2s", "-ORBEndpointListen", listen_at(kind)});
  std::vector<std::unique_ptr<BareSender>> deaf;
  for (std::size_t i = 0; i < clients; ++i) {
    deaf.push_back(server.sender(kind));
    for (int n = 0; n < 3; ++n) REQUIRE(deaf.back()->send(deaf.back()->request("echo", std::to_string(longest - kib))));
  }
  await("replies fill the backlogs", [&] { return server.memory().used() >= longest; });
  for (int i = 0; i < 10; ++i) CHECK(serves(server, 10, 256 * kib));
  await("a client is cut off", [&] { return rt::report(*server.orb.orb).cut_off_clients > 0; });
  deaf.clear();
  await_free(server);
  CHECK(serves(server, 10));
}

TEST_CASE("clients that fetch long replies at one time get all of them") {
  constexpr int clients = 4;
  const std::string listen = GENERATE("127.0.0.1:0", "unix:", "channel:");
  SlowServer server({"-ORBEndpointListen", listen});
  std::atomic<int> right{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < clients; ++i)
    threads.emplace_back([&] {
      TestOrb client(server.options({}));
      const auto probe = probe_of(client, server.ior);
      for (int n = 0; n < 2; ++n)
        if (probe->echo(std::to_string(longest - kib)) == std::string(longest - kib, 'r')) ++right;
    });
  threads.clear();
  CHECK(right == clients * 2);
  CHECK(rt::report(*server.orb.orb).cut_off_clients == 0);
  await_free(server);
}
