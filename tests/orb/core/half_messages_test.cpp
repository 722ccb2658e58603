#include "orb/core/half_messages.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

using namespace corelane;
using namespace corelane::core;

namespace {

// Connections of several peers under one bound.
class Crowd {
 public:
  explicit Crowd(const HalfMessages::Bounds& bounds) : all(std::make_shared<HalfMessages>(bounds)) {}

  std::size_t comes(const std::string& peer) {
    const std::size_t number = rooms_.size();
    rooms_.push_back(all->share(peer, [this, number](const auto& request) {
      gone.push_back(number);
      if (request) requests.push_back(request->id);
    }));
    return number;
  }
  bool holds(std::size_t who, std::size_t bytes) { return rooms_[who]->hold(bytes, {}, false); }
  bool insists(std::size_t who, std::size_t bytes, const giop::HalfRoom::Request& request = {}) {
    return rooms_[who]->hold(bytes, request, true);
  }
  void leaves(std::size_t who) { rooms_[who].reset(); }

  const std::shared_ptr<HalfMessages> all;
  std::vector<std::size_t> gone;
  std::vector<std::uint32_t> requests;

 private:
  std::vector<std::unique_ptr<giop::HalfRoom>> rooms_;
};

constexpr giop::HalfRequest request_9{.id = 9, .version = giop::giop_1_2, .response_expected = true};

}  // namespace

TEST_CASE("the first bytes of each connection count nowhere") {
  Crowd crowd({.all = 10, .of_peer = 10, .free = 50});
  const auto one = crowd.comes("a"), other = crowd.comes("a");
  CHECK(crowd.holds(one, 50));
  CHECK(crowd.holds(other, 50));
  CHECK(crowd.all->used() == 0);
  CHECK(crowd.holds(one, 60));
  CHECK(crowd.all->used() == 10);
  CHECK_FALSE(crowd.holds(other, 51));
  CHECK(crowd.holds(one, 50));
  CHECK(crowd.holds(other, 51));
}

TEST_CASE("one peer gets its part of half messages and leaves the rest to others") {
  Crowd crowd({.all = 1000, .of_peer = 300, .free = 0});
  const auto one = crowd.comes("a"), same = crowd.comes("a"), other = crowd.comes("b");
  REQUIRE(crowd.holds(one, 200));
  CHECK(crowd.holds(same, 100));
  CHECK_FALSE(crowd.holds(same, 101));
  CHECK(crowd.holds(other, 300));
  CHECK(crowd.gone.empty());
}

TEST_CASE("the part of a peer is a quarter and one whole message at least") {
  CHECK(HalfMessages::bounds_of(400, 50).of_peer == 100);
  CHECK(HalfMessages::bounds_of(400, 150).of_peer == 150);
  CHECK(HalfMessages::bounds_of(400, 500).of_peer == 400);
}

TEST_CASE("where all is used up the largest connection of the peer that holds most gives way") {
  Crowd crowd({.all = 900, .of_peer = 900, .free = 0});
  const auto smaller = crowd.comes("a"), larger = crowd.comes("a"), largest = crowd.comes("b");
  REQUIRE(crowd.insists(smaller, 200));
  REQUIRE(crowd.insists(larger, 300, request_9));
  REQUIRE(crowd.insists(largest, 400));
  const auto newcomer = crowd.comes("c");
  CHECK_FALSE(crowd.holds(newcomer, 100));
  CHECK(crowd.gone.empty());
  CHECK(crowd.insists(newcomer, 100));
  CHECK(crowd.gone == std::vector{larger});
  CHECK(crowd.requests == std::vector{9u});
  CHECK(crowd.all->used() == 700);
}

TEST_CASE("a peer that has used up its part gives way itself and not another") {
  Crowd crowd({.all = 10'000, .of_peer = 300, .free = 0});
  const auto other = crowd.comes("b"), first = crowd.comes("a"), second = crowd.comes("a"), third = crowd.comes("a");
  REQUIRE(crowd.insists(other, 300));
  REQUIRE(crowd.insists(first, 150));
  REQUIRE(crowd.insists(second, 150));
  CHECK(crowd.insists(third, 100));
  CHECK(crowd.gone == std::vector{first});
}

TEST_CASE("a connection that would hold most itself is refused and nobody gives way") {
  Crowd crowd({.all = 1000, .of_peer = 300, .free = 0});
  const auto first = crowd.comes("a"), second = crowd.comes("a");
  REQUIRE(crowd.insists(first, 140));
  CHECK_FALSE(crowd.insists(second, 170));
  CHECK_FALSE(crowd.insists(second, 400));
  CHECK(crowd.gone.empty());
  CHECK(crowd.all->used() == 140);
}

TEST_CASE("several give way where one does not make enough room") {
  Crowd crowd({.all = 100, .of_peer = 100, .free = 0});
  for (int i = 0; i < 10; ++i) REQUIRE(crowd.insists(crowd.comes("a"), 10));
  const auto newcomer = crowd.comes("b");
  CHECK(crowd.insists(newcomer, 40));
  CHECK(crowd.gone == std::vector<std::size_t>{0, 1, 2, 3});
  CHECK(crowd.all->used() == 100);
}

TEST_CASE("a connection that gave way gets nothing more and gives nothing back again") {
  Crowd crowd({.all = 100, .of_peer = 100, .free = 0});
  const auto one = crowd.comes("a"), other = crowd.comes("b");
  REQUIRE(crowd.insists(one, 80));
  REQUIRE(crowd.insists(other, 60));
  REQUIRE(crowd.gone == std::vector{one});
  CHECK_FALSE(crowd.insists(one, 90));
  CHECK(crowd.holds(one, 70));
  CHECK(crowd.holds(one, 0));
  CHECK(crowd.all->used() == 60);
  crowd.leaves(one);
  crowd.leaves(other);
  CHECK(crowd.all->used() == 0);
}

TEST_CASE("connections that the process opened count and never give way") {
  Crowd crowd({.all = 100, .of_peer = 60, .free = 0});
  const auto own = crowd.all->share();
  REQUIRE(own->hold(40, {}, true));
  const auto stranger = crowd.comes("a");
  REQUIRE(crowd.insists(stranger, 60));
  SECTION("one of them takes the place of a stranger who holds more") {
    CHECK(own->hold(50, {}, true));
    CHECK(crowd.gone == std::vector{stranger});
  }
  SECTION("where they hold most, a stranger is refused as they are") {
    REQUIRE(crowd.holds(stranger, 20));
    REQUIRE(own->hold(80, {}, false));
    CHECK_FALSE(crowd.insists(stranger, 21));
    CHECK_FALSE(own->hold(81, {}, true));
    CHECK(crowd.gone.empty());
  }
}

TEST_CASE("many threads that take each other's room leave no byte behind") {
  const auto all = std::make_shared<HalfMessages>(HalfMessages::Bounds{.all = 1000, .of_peer = 600, .free = 10});
  std::atomic<int> gone{0};
  std::vector<std::jthread> threads;
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([&, number] {
      for (std::size_t round = 0; round < 500; ++round) {
        // relaxed: a count that is read when the threads have ended
        const auto room =
            all->share(number % 2 == 0 ? "a" : "b", [&](const auto&) { gone.fetch_add(1, std::memory_order_relaxed); });
        for (std::size_t bytes = 50; bytes < 500 && room->hold(bytes, request_9, true); bytes += 50) continue;
        if (all->used() > 1000) FAIL("more than there is");
      }
    });
  threads.clear();
  CHECK(all->used() == 0);
}
