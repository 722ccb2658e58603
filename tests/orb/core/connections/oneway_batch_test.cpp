// Tests oneways that one thread sends in quick succession: which go out at once, which go out together, and when.
#include "orb/core/connections/oneway_batch.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "orb/base/minor.h"
#include "orb/base/sanitizer.h"
#include "orb/core/client/reference.h"
#include "orb/dispatch/current.h"
#include "orb/os/clock.h"
#include "tests/support/peers/acceptor.h"
#include "tests/support/peers/in_child.h"
#include "tests/support/probe_servant.h"
#include "tests/support/system/temp_directory.h"

namespace corelane::testing::oneways {

using namespace std::chrono_literals;
using core::OnewayBatch;

namespace {

constexpr Error no_room{.kind = ErrorKind::timeout, .minor = minor::no_send_room};
constexpr Error lost{.kind = ErrorKind::comm_failure, .minor = minor::connection_lost};

// A connection that records what is sent.
struct Recorder final : transport::Connection {
  Expected<std::size_t> receive(MutableBytes, Time, os::WaitStrategy) noexcept override { return std::size_t{0}; }
  Expected<transport::Arrival> take(MutableBytes) noexcept override { return transport::Arrival{}; }
  Expected<void> send(std::span<const Bytes> parts) noexcept override {
    std::string all;
    for (const Bytes part : parts) all.append(reinterpret_cast<const char*>(part.data()), part.size());
    sent.push_back(all);
    sends.fetch_add(1);
    return {};
  }
  Expected<void> send_by(Time until, std::span<const Bytes> parts, std::uint64_t&) noexcept override {
    if (until != Time{}) waited_until = until;
    if (fails) return *fails;
    return send(parts);
  }
  void close_if_stalled(Time since) noexcept override {
    waits_since = since;
    if (gives_up) fails = lost;
  }
  void watch(std::shared_ptr<transport::Watcher>) override {}
  void unwatch() override {}
  void expect_by(Time) noexcept override {}
  void renew() noexcept override {}
  void close() noexcept override {}
  bool is_open() const noexcept override { return true; }
  const transport::Endpoint& local() const noexcept override { return endpoint; }
  const transport::Endpoint& peer() const noexcept override { return endpoint; }
  PeerId id() const noexcept override { return PeerId{1}; }

  std::vector<std::string> sent;
  std::atomic<int> sends{0};
  std::optional<Error> fails;
  Time waited_until{};
  std::optional<Time> waits_since;
  bool gives_up = false;
  transport::Endpoint endpoint;
};

struct Batching {
  explicit Batching(OnewayBatch::Watch watch = [](std::shared_ptr<OnewayBatch>) noexcept { return true; })
      : batch(std::make_shared<OnewayBatch>(stream, watch)) {}

  std::shared_ptr<Recorder> stream = std::make_shared<Recorder>();
  std::shared_ptr<OnewayBatch> batch;
  Time now = Time{1h};

  Expected<bool> take(const std::string& text, Time deadline = never) {
    const std::span<const char> chars(text);
    const Bytes part = std::as_bytes(chars);
    return batch->take(std::span{&part, 1}, deadline, now);
  }
  // Returns true if the text is in the batch.
  bool takes(const std::string& text) {
    const auto taken = take(text);
    REQUIRE(taken);
    return *taken;
  }
  // Sends oneways at once until the next one belongs to a burst.
  void begin_burst() {
    for (int i = 0; i < OnewayBatch::burst_from; ++i, now += 1us) REQUIRE_FALSE(takes("early"));
  }
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("oneways that come apart are never kept") {
  Batching b;
  for (int i = 0; i < 5 * OnewayBatch::burst_from; ++i, b.now += OnewayBatch::close_together) CHECK_FALSE(b.takes("x"));
  CHECK(b.stream->sent.empty());
}

TEST_CASE("one pause ends a burst before it has begun") {
  Batching b;
  for (int i = 0; i < OnewayBatch::burst_from - 1; ++i, b.now += 1us) CHECK_FALSE(b.takes("x"));
  b.now += OnewayBatch::close_together;
  for (int i = 0; i < OnewayBatch::burst_from; ++i, b.now += 1us) CHECK_FALSE(b.takes("x"));
  CHECK(b.takes("kept"));
}

TEST_CASE("oneways of a burst go out together once the first of them has waited") {
  Batching b;
  b.begin_burst();
  CHECK(b.takes("a"));
  b.now += 9us;
  CHECK(b.takes("b"));
  b.now += 9us;
  CHECK(b.takes("c"));
  CHECK(b.stream->sent.empty());
  b.now += 2us;
  CHECK(b.takes("d"));
  CHECK(b.stream->sent == Texts{"abc"});
}

TEST_CASE("a full batch goes out before the next oneway comes into it") {
  Batching b;
  b.begin_burst();
  const std::string piece(OnewayBatch::longest_request, 'p');
  constexpr std::size_t count = OnewayBatch::most_bytes / OnewayBatch::longest_request;
  for (std::size_t i = 0; i < count; ++i) CHECK(b.takes(piece));
  CHECK(b.stream->sent.empty());
  CHECK(b.takes("q"));
  REQUIRE(b.stream->sent.size() == 1);
  CHECK(b.stream->sent.front().size() == OnewayBatch::most_bytes);
  CHECK(b.batch->flush(Time{}));
  CHECK(b.stream->sent.back() == "q");
}

TEST_CASE("a long oneway is not kept, and what it follows is sent before") {
  Batching b;
  b.begin_burst();
  CHECK(b.takes("a"));
  CHECK_FALSE(b.takes(std::string(OnewayBatch::longest_request + 1, 'x')));
  CHECK(b.batch->flush(Time{}));
  CHECK(b.stream->sent == Texts{"a"});
}

TEST_CASE("any thread may send what is in the batch") {
  Batching b;
  b.begin_burst();
  CHECK(b.takes("a"));
  std::jthread([&] { CHECK(b.batch->flush(never)); }).join();
  CHECK(b.stream->sent == Texts{"a"});
  CHECK(b.stream->waited_until == Time{});  // it does not wait for the other thread
  CHECK(b.batch->flush(never));
  CHECK(b.stream->sent.size() == 1);
}

TEST_CASE("oneways of other threads go past a burst") {
  Batching b;
  b.begin_burst();
  CHECK(b.takes("a"));
  std::jthread([&] {
    for (int i = 0; i < 3 * OnewayBatch::burst_from; ++i) CHECK_FALSE(b.takes("other"));
  }).join();
  CHECK(b.takes("b"));
}

TEST_CASE("oneways that find no room stay in the batch, in order") {
  Batching b;
  b.begin_burst();
  CHECK(b.takes("a"));
  b.stream->fails = no_room;
  const auto refused = b.batch->flush(b.now + 5s);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().minor == minor::no_send_room);
  CHECK(b.stream->waited_until == b.now + 5s);
  b.stream->fails.reset();
  CHECK(b.batch->flush(Time{}));
  CHECK(b.stream->sent == Texts{"a"});
}

TEST_CASE("a oneway for which there is no room is its caller's again") {
  Batching b;
  b.begin_burst();
  for (const char* kept : {"a", "b", "c"}) {
    CHECK(b.takes(kept));
    b.now += OnewayBatch::close_together - 1us;
  }
  b.stream->fails = no_room;
  const auto taken = b.take("last", b.now + 5s);
  REQUIRE_FALSE(taken);
  CHECK(taken.error().minor == minor::no_send_room);
  CHECK(b.stream->waited_until == b.now + 5s);
  b.stream->fails.reset();
  CHECK(b.batch->flush(Time{}));
  CHECK(b.stream->sent == Texts{"abc"});
  for (int i = 0; i < OnewayBatch::burst_from; ++i) CHECK_FALSE(b.takes("x"));  // the burst has ended
}

TEST_CASE("a batch is lost with its connection and the next sender hears of it") {
  Batching b;
  b.begin_burst();
  CHECK(b.takes("a"));
  b.stream->fails = lost;
  const auto failed = b.batch->flush(never);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().minor == minor::connection_lost);
  CHECK(b.batch->flush(never));  // nothing is left to send
}

TEST_CASE("the flusher sends what has waited and ends a burst in which nothing comes") {
  Batching b;
  b.begin_burst();
  CHECK(b.takes("a"));
  CHECK(b.batch->look(b.now + OnewayBatch::longest_wait - 1ns) < never);
  CHECK(b.stream->sent.empty());
  CHECK(b.batch->look(b.now + OnewayBatch::longest_wait) < never);
  CHECK(b.stream->sent == Texts{"a"});
  CHECK(b.batch->look(b.now + 1ms) == never);
  b.now += 1us;
  CHECK(b.takes("b"));  // as if there had been no pause
  CHECK(b.batch->flush(never));
  CHECK(b.stream->sent == Texts{"a", "b"});
}

TEST_CASE("a burst for which there is no room is given up with its peer") {
  Batching b;
  b.begin_burst();
  CHECK(b.takes("a"));
  const Time came = b.now;
  b.now += OnewayBatch::close_together - 1us;
  CHECK(b.takes("b"));
  b.stream->fails = no_room;
  Time next = b.now + OnewayBatch::longest_wait;
  for (int i = 0; i < 20; ++i) {
    next = b.batch->look(next);
    REQUIRE(next != never);
    CHECK(b.stream->waits_since == came);
  }
  b.stream->gives_up = true;
  next = b.batch->look(next);
  CHECK(b.batch->look(next + 1s) == never);
  CHECK(b.stream->sent.empty());
}

TEST_CASE("an ended batch has sent all and takes nothing") {
  Batching b;
  b.begin_burst();
  CHECK(b.takes("a"));
  b.batch->end(Time{});
  CHECK(b.stream->sent == Texts{"a"});
  CHECK(b.batch->look(b.now) == never);
  b.begin_burst();
  for (int i = 0; i < 2 * OnewayBatch::burst_from; ++i) CHECK_FALSE(b.takes("b"));
}

TEST_CASE("the job of a task keeps none of its oneways") {
  Batching b;
  const dispatch::CurrentScope job(dispatch::CurrentJob{.context = {}, .stop = nullptr});
  for (int i = 0; i < 5 * OnewayBatch::burst_from; ++i, b.now += 1us) CHECK_FALSE(b.takes("x"));
}

// Processes.

namespace {

bool children_can_start_threads() {
  constexpr bool can = CORELANE_THREAD_SANITIZER == 0;
  if (!can) std::cout << "SKIPPED: the thread sanitizer lets no child of fork() start a thread\n";
  return can;
}

// Keeps one oneway in the batch, and returns once the process's flusher has sent it.
bool is_flushed(Batching& b) {
  b.now = os::now();
  for (auto kept = b.take("x"); !kept || !*kept; kept = b.take("x")) b.now += 1us;  // bound: the flusher has a thread
  while (b.stream->sends.load() == 0) std::this_thread::sleep_for(1ms);             // sleep: a call would send it
  return b.stream->sent == Texts{"x"};
}

}  // namespace

TEST_CASE("a child of fork() has a flusher of its own") {
  if (!children_can_start_threads()) return;
  Batching parents(core::OnewayFlusher::watch);
  CHECK(is_flushed(parents));
  const int status = in_child([] {
    Batching own(core::OnewayFlusher::watch);
    return is_flushed(own);
  });
  CHECK(status == 0);
}

// Over the wire.

namespace {

struct Noting {
  explicit Noting(const std::string& listen = "127.0.0.1:0", std::vector<std::string> options = {})
      : server({"-ORBEndpointListen", listen}), client(std::move(options)), probe(probe_of(client, server.ior())) {}
  // Waits without calling. Bound: oneways are delivered.
  void wait_for(std::size_t count) {
    while (server.servant->notes().size() < count)
      std::this_thread::sleep_for(1ms);  // sleep: a call would send the rest of the burst
  }
  ProbeServer server;
  TestOrb client;
  CORBA::object_reference<Probing::Probe> probe;
};

// Returns whether the notes of one sender are in order and complete.
bool in_order(const std::vector<std::string>& notes, char sender, int count) {
  int next = 0;
  for (const std::string& note : notes)
    if (note.front() == sender && note.substr(1, note.find(' ') - 1) != std::to_string(next++)) return false;
  return next == count;
}

std::string note_of(char sender, int number, std::size_t length = 0) {
  return sender + std::to_string(number) + " " + std::string(length, 'n');
}

}  // namespace

TEST_CASE("a burst arrives whole and in order though nothing follows it") {
  const int count = GENERATE(1, 15, 16, 17, 18, 200, 5000);
  Noting n;
  n.probe->ping();
  for (int i = 0; i < count; ++i) n.probe->note(note_of('a', i));
  n.wait_for(static_cast<std::size_t>(count));
  CHECK(in_order(n.server.servant->notes(), 'a', count));
}

TEST_CASE("a burst of short and long oneways arrives in order") {
  Noting n;
  constexpr int count = 1000;
  for (int i = 0; i < count; ++i)
    n.probe->note(note_of('a', i,
                          i % 50 == 49 ? 100'000
                          : i % 7 == 0 ? OnewayBatch::longest_request - 120 + static_cast<std::size_t>(i % 60)
                                       : 5));
  n.wait_for(count);
  CHECK(in_order(n.server.servant->notes(), 'a', count));
}

TEST_CASE("a call comes behind the burst before it") {
  Noting n;
  std::size_t missing = 0;
  for (int round = 1; round <= 50; ++round) {
    for (int i = 0; i < 40; ++i) n.probe->note("x");
    n.probe->ping();
    missing += static_cast<std::size_t>(round) * 40 - n.server.servant->notes().size();
  }
  CHECK(missing == 0);
}

TEST_CASE("bursts of threads that share a connection keep each its order") {
  Noting n("127.0.0.1:0", {"-ORBClientConnections", "1"});
  constexpr int count = 1000;
  {
    std::vector<std::jthread> senders;
    for (const char sender : {'a', 'b', 'c'})
      senders.emplace_back([&n, sender] {
        for (int i = 0; i < count; ++i) {
          n.probe->note(note_of(sender, i));
          if (i % 100 == 99) n.probe->add(1, 2);
        }
      });
  }
  n.wait_for(3 * count);
  for (const char sender : {'a', 'b', 'c'}) CHECK(in_order(n.server.servant->notes(), sender, count));
}

TEST_CASE("an ORB that is destroyed right after a burst has sent all of it") {
  const int count = GENERATE(17, 40, 1000);
  Noting n;
  n.probe->ping();
  {
    TestOrb other;
    const auto probe = probe_of(other, n.server.ior());
    for (int i = 0; i < count; ++i) probe->note(note_of('a', i));
  }
  n.wait_for(static_cast<std::size_t>(count));
  CHECK(in_order(n.server.servant->notes(), 'a', count));
}

TEST_CASE("a child of fork() whose parent has destroyed its ORBs sends its bursts whole") {
  if (!children_can_start_threads()) return;
  constexpr int count = 200;
  const auto all_arrive = [] {
    Noting n;
    for (int i = 0; i < count; ++i) n.probe->note(note_of('a', i));
    n.wait_for(count);
    return in_order(n.server.servant->notes(), 'a', count);
  };
  CHECK(all_arrive());
  CHECK(in_child(all_arrive) == 0);
}

TEST_CASE("a burst to a server that does not read ends in TIMEOUT and what was accepted arrives") {
  Acceptor acceptor;
  TestOrb client({"-ORBTimeoutRequest", "500ms"});
  const auto probe = core::make_stub<Probing::Probe>(client->string_to_object(acceptor.corbaloc())->_reference());
  const std::string text(1000, 't');
  int accepted = 0;
  try {
    for (;; ++accepted) probe->note(text);  // bound: the room of the connection
  } catch (const CORBA::TIMEOUT& full) {
    CHECK(full.minor() == minor::no_send_room);
    CHECK(full.completed() == CORBA::COMPLETED_NO);
  }
  CHECK(accepted > OnewayBatch::burst_from);
  Wire wire = acceptor.next();
  int came = 0;
  while (came < accepted && wire.next()) ++came;  // bound: what was accepted
  CHECK(came == accepted);
}

}  // namespace corelane::testing::oneways
