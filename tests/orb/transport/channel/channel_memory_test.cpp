// Tests the memory of connections through channels: it grows with long messages, and is given back when they stop.
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "orb/channel/memory/memory.h"
#include "orb/os/clock.h"
#include "orb/transport/channel/channel.h"
#include "orb/transport/memory_budget.h"
#include "tests/orb/transport/kinds.h"

namespace channel_memory_test {

using namespace corelane;
using namespace corelane::testing;
using transport::MemoryBudget;

namespace {

constexpr std::size_t kibi = 1024, mebi = kibi * kibi, pool = transport::usual_channel_pool;
// A channel's memory without chunks: two pages for control, and the ring.
constexpr std::size_t base = 8 * kibi + 64 * kibi;
constexpr std::size_t whole = base + pool;

struct UsualPool : SharedMemory {
  static std::unique_ptr<Transport> make(Reactor& reactor, const ConnectionLimits& limits) {
    return made(reactor, limits, true, pool);
  }
};

bool cannot_grow() {
  if (!channel::can_grow()) std::cout << "SKIPPED: this kernel has no MADV_POPULATE_WRITE\n";
  return !channel::can_grow();
}

void pass(const ConnectionPtr& from, const ConnectionPtr& to, std::size_t size) {
  const std::string text = pattern(size);
  REQUIRE(send(from, text));
  REQUIRE(read(to, size) == text);
}

// Returns whether the end's memory becomes that size in time.
bool comes_to(const ConnectionPtr& end, std::size_t memory) {
  const Time latest = patience();
  while (end->channel_memory() != memory && os::now() < latest)
    std::this_thread::sleep_for(std::chrono::milliseconds{5});  // sleep: there is no event to wait for
  return end->channel_memory() == memory;
}

transport::BorrowedBytes receive_borrowed(const ConnectionPtr& end) {
  std::array<std::byte, 64> buffer;
  transport::BorrowedBytes borrowed;
  REQUIRE(end->receive(buffer, patience(), {}, borrowed));
  REQUIRE(borrowed.storage);
  return borrowed;
}

}  // namespace

TEST_CASE("a hundred connections through channels take little memory, and less once they are quiet") {
  if (cannot_grow()) return;
  StreamHarness<UsualPool> harness;
  std::vector<ConnectionPtr> ends;
  std::size_t taken = 0;
  for (int i = 0; i < 100; ++i) {
    const auto [caller, called] = harness.connect();
    for (const std::size_t size : {std::size_t{64}, 64 * kibi}) {
      pass(caller, called, size);
      pass(called, caller, size);
    }
    taken += caller->channel_memory() + called->channel_memory();
    ends.insert(ends.end(), {caller, called});
  }
  CHECK(taken <= 200 * (base + 64 * kibi));
  for (const ConnectionPtr& end : ends) CHECK(comes_to(end, base));
  pass(ends[0], ends[1], 4 * mebi);
}

TEST_CASE("a connection grows by what is under way, and shrinks once it is quiet but for what a reader keeps") {
  if (cannot_grow()) return;
  StreamHarness<UsualPool> harness;
  const auto [caller, called] = harness.connect();
  CHECK(caller->channel_memory() == base);
  const std::string kept = pattern(200 * kibi, 5);
  REQUIRE(send(caller, kept));
  const transport::BorrowedBytes borrowed = receive_borrowed(called);
  for (int round = 0; round < 2; ++round) {
    pass(caller, called, 3 * mebi);
    CHECK(caller->channel_memory() >= base + 3 * mebi + 200 * kibi);
    CHECK(comes_to(caller, base + 224 * kibi));
    CHECK(text_of(borrowed.bytes) == kept);
  }
  CHECK(called->channel_memory() == base);
}

TEST_CASE("memory for a long message grows, and goes back whether the message is sent or not") {
  if (cannot_grow()) return;
  StreamHarness<UsualPool> harness;
  const auto [caller, called] = harness.connect();
  auto send_buffer = caller->send_buffer(mebi);
  REQUIRE(send_buffer);
  CHECK(caller->channel_memory() == base + mebi);
  const bool sent = GENERATE(true, false);
  if (sent) {
    REQUIRE(caller->send(send_buffer->bytes().first(mebi)));
    CHECK(read(called, mebi).size() == mebi);
  }
  send_buffer.reset();
  CHECK(comes_to(caller, base));
}

TEST_CASE("memory of the backlog grows and goes back, too") {
  if (cannot_grow()) return;
  StreamHarness<UsualPool> harness;
  const auto [caller, called] = harness.connect();
  const std::string text = pattern(mebi);
  std::string all;
  for (int i = 0; i < 8; ++i) {
    REQUIRE(send(caller, text));
    all += text;
  }
  CHECK(read(called, all.size()) == all);
  CHECK(comes_to(caller, base));
}

TEST_CASE("a connection of tasks has all of its memory, and keeps it while others shrink") {
  if (cannot_grow()) return;
  StreamHarness<UsualPool> harness;
  const auto [caller, called] = harness.connect();
  const auto [other, others_server] = harness.connect();
  pass(caller, called, mebi);
  caller->keep_memory();
  CHECK(caller->channel_memory() == whole);
  called->read_for_tasks();
  CHECK(comes_to(called, whole));
  for (int round = 0; round < 2; ++round) {
    pass(other, others_server, mebi);
    CHECK(other->channel_memory() >= base + mebi);
    CHECK(comes_to(other, base));
    CHECK(caller->channel_memory() == whole);
    CHECK(called->channel_memory() == whole);
    pass(caller, called, mebi);
    pass(called, caller, 100);
  }
}

TEST_CASE("channels grow as far as the server's memory budget lets them, and carry everything all the same") {
  if (cannot_grow()) return;
  const auto budget = std::make_shared<MemoryBudget>(MemoryBudget::bounds_of(4 * mebi, mebi, std::chrono::seconds{1}));
  StreamHarness<UsualPool> harness({.memory = budget});
  std::vector<Pair> all{harness.connect()};
  auto held = all.front().called->send_buffer(mebi / 2);  // a channel does not shrink below what is in use
  REQUIRE(held);
  for (int i = 0; i < 8; ++i) {
    all.push_back(harness.connect());
    const auto& [caller, called] = all.back();
    for (const std::size_t size : {4 * kibi, 5 * kibi, 40 * kibi, 3 * mebi}) {
      pass(caller, called, size);
      pass(called, caller, size);
      CHECK(budget->channels() >= mebi / 2);
      CHECK(budget->channels() <= mebi);  // the share of one user
    }
    const auto of_client = caller->send_buffer(mebi);
    CHECK(of_client);
    CHECK(caller->channel_memory() >= base + mebi);  // a client's own memory does not count
    CHECK(budget->channels() <= mebi);
  }
  const auto& [caller, called] = all.back();
  CHECK_FALSE(called->send_buffer(2 * mebi));
  held.reset();
  for (const auto& each : all) CHECK(comes_to(each.called, base));
  CHECK(budget->channels() == 0);
  CHECK(called->send_buffer(mebi));  // there is room again
}

TEST_CASE("a reply that may not grow its channel waits for the client and arrives") {
  if (cannot_grow()) return;
  const auto budget = std::make_shared<MemoryBudget>(MemoryBudget::bounds_of(0, 64 * kibi, std::chrono::seconds{1}));
  StreamHarness<UsualPool> harness({.memory = budget});
  const auto [caller, called] = harness.connect();
  std::string all;
  for (std::uint32_t i = 0; i < 20; ++i) {
    const std::string text = pattern(10 * kibi, i);
    REQUIRE(send_by(called, never, text));
    all += text;
    if (i % 4 != 3) continue;
    CHECK((read(caller, all.size()) == all));
    all.clear();
  }
  CHECK(called->channel_memory() <= base + 64 * kibi);
}

TEST_CASE("a connection of tasks has all of its memory whatever the budget is, and it is counted") {
  if (cannot_grow()) return;
  const auto budget = std::make_shared<MemoryBudget>(MemoryBudget::bounds_of(mebi, mebi, std::chrono::seconds{1}));
  StreamHarness<UsualPool> harness({.memory = budget});
  auto [caller, called] = harness.connect();
  called->read_for_tasks();
  CHECK(comes_to(called, whole));
  CHECK(budget->channels() == pool);
  const auto [other, others_server] = harness.connect();
  pass(others_server, other, mebi);
  CHECK(others_server->channel_memory() == base);
  caller->close();
  called->close();
  caller.reset();
  called.reset();
  while (budget->channels() > 0) std::this_thread::yield();
}

TEST_CASE("a socket has no shared memory") {
  StreamHarness<UnixSocket> harness;
  const auto [caller, called] = harness.connect();
  caller->keep_memory();
  CHECK(caller->channel_memory() == 0);
  CHECK(called->channel_memory() == 0);
}

}  // namespace channel_memory_test
