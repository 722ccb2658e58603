#include "orb/sched/servers/sporadic_server.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <random>
#include <vector>

#include "tests/orb/sched/whole_units.h"

namespace sporadic_server_test {

using namespace corelane;
using namespace corelane::sched;
using namespace corelane::sched::testing;

namespace {

// Returns a number that is uniform in [low, high].
std::int64_t between(std::mt19937_64& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
}
using Chunks = std::vector<Chunk>;
Chunks chunks_of(const SporadicServer& server) { return {server.chunks().begin(), server.chunks().end()}; }

// The rule of POSIX: one sum of budget. What an activation used comes back T after the activation began.
class PosixServer {
 public:
  explicit PosixServer(const Reservation& r) : reservation_(r), left_(r.budget) {}
  void wake(Time now) { activation_ = now; }
  void charge(Time, Duration used) { left_ -= used, used_ += used; }
  void block(Time) {
    if (used_ > Duration::zero()) back_.push_back({activation_ + reservation_.period, std::exchange(used_, {})});
  }
  Duration available(Time now) {
    for (; !back_.empty() && back_.front().at <= now; back_.pop_front()) left_ += back_.front().budget;
    return left_;
  }

 private:
  Reservation reservation_;
  Duration left_;
  Duration used_{};
  Time activation_{};
  std::deque<Chunk> back_;
};

struct CorrectedServer : SporadicServer {
  using SporadicServer::SporadicServer;
  void block(Time) {}
};

// VCPU0 (10, 40) starts at 1 and is always busy. Below it, VCPU1 (20, 50) gets work of 18 at 0, 18 at 40 and 20 at 90.
// Simulates this unit by unit, and returns the instants at which VCPU1 ran.
template <typename Server>
std::vector<std::int64_t> play(Server server) {
  std::vector<std::int64_t> ran;
  std::int64_t work = 0;
  for (std::int64_t t = 0; t < 140; ++t) {
    const std::int64_t arrives = t == 0 || t == 40 ? 18 : t == 90 ? 20 : 0;
    if (work == 0 && arrives > 0) server.wake(at(t));
    work += arrives;
    const bool above = t >= 1 && (t - 1) % 40 < 10;
    if (above || work == 0 || server.available(at(t)) <= units(0)) continue;
    ran.push_back(t);
    server.charge(at(t + 1), units(1));
    if (--work == 0) server.block(at(t + 1));
  }
  return ran;
}

std::int64_t within(const std::vector<std::int64_t>& ran, std::int64_t from, std::int64_t to) {
  return std::count_if(ran.begin(), ran.end(), [&](std::int64_t t) { return from <= t && t < to; });
}

// Applies the rule token by token: slow but simple.
class Tokens {
 public:
  explicit Tokens(const Reservation& r) : period_(r.period) {
    for (std::int64_t i = 0; i < r.budget.count(); ++i) tokens_.push_back(at(i));
  }
  void wake(Time now) {
    for (std::size_t i = 0; i < tokens_.size(); ++i)
      tokens_[i] = std::max(tokens_[i], now + units(static_cast<std::int64_t>(i)));
  }
  void charge(std::int64_t used) {
    for (; used > 0; --used) {
      tokens_.push_back(tokens_.front() + period_);
      tokens_.pop_front();
    }
  }
  std::vector<Time> all() const { return {tokens_.begin(), tokens_.end()}; }

 private:
  Duration period_;
  std::deque<Time> tokens_;
};

std::vector<Time> tokens_of(const SporadicServer& server) {
  std::vector<Time> tokens;
  for (const Chunk& chunk : server.chunks())
    for (Duration i{}; i < chunk.budget; ++i) tokens.push_back(chunk.at + i);
  return tokens;
}

}  // namespace

TEST_CASE("a sporadic server gives budget back one period after it became usable") {
  SporadicServer server(reservation(20, 50));
  server.wake(at(0));
  CHECK(server.available(at(0)) == units(20));
  server.charge(at(18), units(18));
  CHECK(chunks_of(server) == Chunks{{at(18), units(2)}, {at(50), units(18)}});
  server.wake(at(40));
  CHECK(chunks_of(server) == Chunks{{at(40), units(2)}, {at(50), units(18)}});
  CHECK(server.available(at(40)) == units(2));
}

TEST_CASE("premature replenishment gives 27 units in a window where the corrected rule gives 22") {
  const auto posix = play(PosixServer(reservation(20, 50)));
  const auto corrected = play(CorrectedServer(reservation(20, 50)));
  CHECK(within(posix, 51, 101) == 27);
  CHECK(within(corrected, 51, 101) == 22);
  CHECK(within(corrected, 18, 68) == 28);  // correct: the work above delayed what was usable before
}

TEST_CASE("a burst on the rests of two chunks comes back in two parts") {
  SporadicServer server(reservation(20, 50));
  server.wake(at(0));
  server.charge(at(1), units(1));
  server.charge(at(28), units(17));
  server.wake(at(40));
  server.charge(at(41), units(1));
  server.charge(at(68), units(17));
  CHECK(chunks_of(server) == Chunks{{at(66), units(2)}, {at(90), units(2)}, {at(100), units(16)}});
  server.wake(at(90));
  CHECK(chunks_of(server) == Chunks{{at(90), units(4)}, {at(100), units(16)}});
  CHECK(server.available(at(91)) == units(4));
}

TEST_CASE("an exhausted sporadic server waits for its first chunk") {
  SporadicServer server(reservation(3, 10));
  server.wake(at(5));
  server.charge(at(8), units(3));
  CHECK(server.available(at(14)) == units(0));
  CHECK(server.next(at(8)) == at(15));
  CHECK(server.available(at(15)) == units(3));
}

TEST_CASE("an overrun of a sporadic server is paid to the last unit") {
  SporadicServer server(reservation(4, 10));
  server.wake(at(0));
  server.charge(at(6), units(6));
  CHECK(chunks_of(server) == Chunks{{at(12), units(2)}, {at(20), units(2)}});
  server.charge(at(106), units(100));
  CHECK(server.next(at(106)) == at(262));  // 106 units are 26 whole budgets and 2: 260 + 2
}

TEST_CASE("a full queue of chunks merges later and never sooner") {
  SporadicServer server(reservation(10, 100), at(0), 2);
  for (const int start : {0, 10, 20}) {
    server.wake(at(start));
    server.charge(at(start + 1), units(1));
  }
  CHECK(chunks_of(server) == Chunks{{at(21), units(7)}, {at(118), units(3)}});
}

TEST_CASE("a sporadic server is to others a task without jitter") {
  const Interference other = interference_of(SporadicServer(reservation(10, 40)));
  CHECK(other.budget == 10);
  CHECK(other.period == 40);
  CHECK(other.jitter == 0);
}

TEST_CASE("an unsound reservation is named with its range") {
  CHECK(is_sound(reservation(5, 5)));
  CHECK(fault_of("io", reservation(6, 5)) == "io.budget = 6ns is more than io.period = 5ns");
  CHECK(fault_of("io", reservation(0, 5)) == "io.budget = 0ns is no more than 0");
  CHECK(fault_of("io", reservation(1, 0)) == "io.period = 0ns is no more than 0");
  CHECK_FALSE(fault_of("io", reservation(1, 5)));
}

// Laws.

TEST_CASE("the chunks of a sporadic server are its tokens") {
  std::mt19937_64 random(41);
  for (int set = 0; set < 300; ++set) {
    const auto period = between(random, 1, 30);
    const auto budget = between(random, 1, period);
    const auto limit = static_cast<std::size_t>(between(random, 2, SporadicServer::most_chunks));
    SporadicServer server(reservation(budget, period));
    SporadicServer small(reservation(budget, period), at(0), limit);
    Tokens tokens(reservation(budget, period));
    std::int64_t now = 0;
    for (int step = 0; step < 60; ++step) {
      now += between(random, 0, period - 1);
      if (random() % 3 == 0) {
        server.wake(at(now)), small.wake(at(now)), tokens.wake(at(now));
      } else {
        const auto used = between(random, 0, random() % 8 == 0 ? 3 * budget : budget);
        server.charge(at(now), units(used)), small.charge(at(now), units(used)), tokens.charge(used);
      }
      if (server.chunks().size() == SporadicServer::most_chunks) break;  // a full queue may be late
      const auto expected = tokens.all();
      const auto later = tokens_of(small);
      REQUIRE(tokens_of(server) == expected);
      REQUIRE(later.size() == expected.size());
      REQUIRE(std::equal(later.begin(), later.end(), expected.begin(), std::greater_equal<>()));
      REQUIRE(std::adjacent_find(later.begin(), later.end(), std::greater_equal<>()) == later.end());
      REQUIRE(later.back() - later.front() < units(period));
      REQUIRE(small.chunks().size() <= limit);
    }
  }
}

TEST_CASE("no token of a sporadic server is used again before its activation and a period") {
  std::mt19937_64 random(43);
  for (int set = 0; set < 200; ++set) {
    const auto period = between(random, 2, 25);
    const auto budget = between(random, 1, period);
    SporadicServer server(reservation(budget, period), at(0), static_cast<std::size_t>(between(random, 2, 6)));
    std::vector<std::pair<Time, Time>> used;  // when the token was usable, when it ran
    std::int64_t work = 0;
    for (std::int64_t t = 0; t < 300; ++t) {
      const std::int64_t arrives = random() % 6 == 0 ? between(random, 1, budget + 2) : 0;
      if (work == 0 && arrives > 0) server.wake(at(t));
      work += arrives;
      const bool above = random() % 3 == 0;
      if (above || work == 0 || server.available(at(t)) == units(0)) continue;
      used.emplace_back(server.chunks()[0].at, at(t));
      server.charge(at(t + 1), units(1));
      --work;
    }
    REQUIRE(used.size() > static_cast<std::size_t>(budget));
    for (std::size_t i = static_cast<std::size_t>(budget); i < used.size(); ++i)
      REQUIRE(used[i].second >= used[i - static_cast<std::size_t>(budget)].first + units(period));
  }
}

}  // namespace sporadic_server_test
