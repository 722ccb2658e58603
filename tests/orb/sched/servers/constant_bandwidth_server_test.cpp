#include "orb/sched/servers/constant_bandwidth_server.h"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "tests/orb/sched/whole_units.h"

namespace constant_bandwidth_server_test {

using namespace corelane;
using namespace corelane::sched;
using namespace corelane::sched::testing;

namespace {

// Simulates constant bandwidth servers under earliest deadline first, unit by unit.
class Core {
 public:
  std::size_t add(const Reservation& r, Exhausted exhausted = Exhausted::postpones) {
    entries_.push_back({ConstantBandwidthServer(r, exhausted)});
    return entries_.size() - 1;
  }
  void arrive(std::size_t i, std::int64_t work) {
    if (entries_[i].work == 0) entries_[i].server.wake(at(now_));
    entries_[i].work += work;
  }
  void run_to(std::int64_t until) {
    for (; now_ < until; ++now_) step();
  }
  std::int64_t now() const { return now_; }
  std::size_t size() const { return entries_.size(); }
  bool missed() const { return missed_; }
  const ConstantBandwidthServer& server(std::size_t i) const { return entries_[i].server; }
  std::int64_t ran(std::size_t i) const { return entries_[i].ran; }

 private:
  struct Entry {
    ConstantBandwidthServer server;
    std::int64_t work = 0;
    std::int64_t ran = 0;
  };
  void step() {
    Entry* first = nullptr;
    for (Entry& e : entries_) {
      if (e.work == 0 || e.server.available(at(now_)) == units(0)) continue;
      if (first == nullptr || e.server.deadline() < first->server.deadline()) first = &e;
    }
    if (first == nullptr) return;
    missed_ |= at(now_ + 1) > first->server.deadline();
    first->server.charge(at(now_ + 1), units(1));
    --first->work;
    ++first->ran;
  }
  std::vector<Entry> entries_;
  std::int64_t now_ = 0;
  bool missed_ = false;
};

}  // namespace

TEST_CASE("a constant bandwidth server starts anew after its deadline") {
  ConstantBandwidthServer server(reservation(4, 10));
  server.wake(at(7));
  CHECK(server.deadline() == at(17));
  CHECK(server.budget() == units(4));
  server.charge(at(9), units(2));
  server.wake(at(17));
  CHECK(server.deadline() == at(27));
  CHECK(server.budget() == units(4));
}

TEST_CASE("a constant bandwidth server that wakes goes on while what is left is no more than its share") {
  ConstantBandwidthServer server(reservation(4, 10));
  server.wake(at(0));
  server.charge(at(2), units(2));
  SECTION("2 / (10 - 5) is 4 / 10") {
    server.wake(at(5));
    CHECK(server.deadline() == at(10));
    CHECK(server.budget() == units(2));
  }
  SECTION("2 / (10 - 6) is more") {
    server.wake(at(6));
    CHECK(server.deadline() == at(16));
    CHECK(server.budget() == units(4));
  }
}

TEST_CASE("an exhausted constant bandwidth server goes on under a later deadline, or waits for it") {
  ConstantBandwidthServer postpones(reservation(4, 10));
  ConstantBandwidthServer waits(reservation(4, 10), Exhausted::waits);
  for (ConstantBandwidthServer* server : {&postpones, &waits}) {
    server->wake(at(0));
    server->charge(at(4), units(4));
    CHECK(server->deadline() == at(20));
    CHECK(server->budget() == units(4));
  }
  CHECK(postpones.available(at(4)) == units(4));
  CHECK(waits.available(at(9)) == units(0));
  CHECK(waits.next(at(4)) == at(10));
  CHECK(waits.available(at(10)) == units(4));
}

TEST_CASE("an overrun of a constant bandwidth server moves its deadline by whole periods") {
  ConstantBandwidthServer server(reservation(4, 10), Exhausted::waits);
  server.wake(at(0));
  server.charge(at(9), units(9));
  CHECK(server.budget() == units(3));
  CHECK(server.deadline() == at(30));
  CHECK(server.next(at(9)) == at(20));
}

TEST_CASE("bandwidth of a server that left is free from its zero-lag instant on and not before") {
  // (4, 8) runs first and leaves at 4. By then it has used its whole share up to 8.
  const auto missed = [](std::int64_t candidate_starts) {
    Core core;
    const auto leaves = core.add(reservation(4, 8));
    const auto stays = core.add(reservation(4, 8));
    core.arrive(leaves, 4);
    core.arrive(stays, 100);
    core.run_to(4);
    REQUIRE(core.ran(leaves) == 4);
    REQUIRE(core.server(leaves).zero_lag() == at(8));
    core.run_to(candidate_starts);
    core.arrive(core.add(reservation(2, 4)), 100);
    core.run_to(80);
    return core.missed();
  };
  CHECK(missed(4));
  CHECK_FALSE(missed(8));
}

TEST_CASE("the zero-lag instant is rounded against the new task") {
  ConstantBandwidthServer server(reservation(3, 10));
  server.wake(at(0));
  server.charge(at(1), units(1));
  CHECK(server.zero_lag() == at(4));  // 10 - 2 * 10 / 3 = 3.33
}

TEST_CASE("a constant bandwidth server is to others a task with the deadline P") {
  const EdfTask task = demand_of(ConstantBandwidthServer(reservation(4, 10)));
  CHECK(task.budget == 4);
  CHECK(task.period == 10);
  CHECK(task.deadline == 10);
  CHECK(task.jitter == 0);
}

// Law.

TEST_CASE("no constant bandwidth server misses a deadline while their shares fit the core, whatever their work does") {
  std::mt19937_64 random(53);
  const auto between = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  for (int set = 0; set < 300; ++set) {
    Core core;
    std::int64_t free = 120;  // in 120ths of the core
    for (const std::int64_t period : {4, 5, 8, 12}) {
      const std::int64_t budget = between(1, period - 1);
      if (budget * 120 > free * period) continue;
      free -= budget * 120 / period;
      core.add(reservation(budget, period), random() % 2 == 0 ? Exhausted::postpones : Exhausted::waits);
    }
    for (int step = 0; step < 60; ++step) {
      for (std::size_t i = 0; i < core.size(); ++i)
        if (random() % 5 == 0) core.arrive(i, between(1, 8));
      core.run_to(core.now() + between(1, 5));
    }
    REQUIRE_FALSE(core.missed());
  }
}

}  // namespace constant_bandwidth_server_test
