#include "orb/sched/servers/io_server.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "tests/orb/sched/whole_units.h"

using namespace corelane;
using namespace corelane::sched;
using namespace corelane::sched::testing;

namespace {

constexpr IoCaller caller(std::int64_t period, int priority) { return {Duration{period}, Priority{priority}}; }
constexpr Ppm tenth = 100'000;

// Returns a server of a tenth of the core, which works for a caller of this period from the start.
IoServer server_for(std::int64_t period) {
  IoServer server(tenth);
  server.serve(at(0), caller(period, 5));
  server.wake(at(0));
  return server;
}

}  // namespace

TEST_CASE("an io server may use its share of its caller's period, then waits for what it used over the share") {
  IoServer server = server_for(80);
  CHECK(server.available(at(0)) == units(8));
  server.charge(at(8), units(8));
  CHECK(server.available(at(79)) == units(0));
  CHECK(server.next(at(8)) == at(80));
  CHECK(server.available(at(80)) == units(8));
}

TEST_CASE("an io server that blocks early is back sooner with its whole budget") {
  IoServer server = server_for(80);
  server.charge(at(3), units(3));
  CHECK(server.available(at(3)) == units(5));
  server.block(at(3));
  server.wake(at(10));
  CHECK(server.next(at(10)) == at(30));
  CHECK(server.available(at(30)) == units(8));
}

TEST_CASE("an io server saves nothing while it has no work") {
  IoServer server = server_for(80);
  server.charge(at(3), units(3));
  server.block(at(3));
  server.wake(at(500));
  server.charge(at(508), units(8));
  CHECK(server.next(at(508)) == at(580));
}

TEST_CASE("an io server takes the period and the priority of its caller") {
  IoServer server = server_for(80);
  server.charge(at(2), units(2));
  server.serve(at(2), caller(40, 9));
  CHECK(server.caller().priority == Priority{9});
  CHECK(server.next(at(2)) == at(20));  // it waits for what it used for the other caller
  CHECK(server.available(at(20)) == units(4));
}

TEST_CASE("an I/O server does not get back at a high level the time that it lost at a low one") {
  IoServer server = server_for(80);
  server.serve(at(400), caller(40, 9));
  server.charge(at(404), units(4));
  CHECK(server.available(at(404)) == units(0));
  CHECK(server.next(at(404)) == at(440));
}

TEST_CASE("a tiny use of an io server counts as the least one, and none as none") {
  IoServer server(tenth, at(0), units(2));
  server.serve(at(0), caller(80, 5));
  server.wake(at(0));
  server.block(at(0));
  CHECK(server.next(at(0)) == at(0));
  server.wake(at(0));
  server.charge(at(1), units(1));
  server.block(at(1));
  CHECK(server.next(at(1)) == at(20));
  server.wake(at(20));
  server.charge(at(23), units(3));
  server.block(at(23));
  CHECK(server.next(at(23)) == at(50));
}

TEST_CASE("an overrun of an io server is paid by waiting") {
  IoServer server = server_for(80);
  server.charge(at(11), units(11));
  CHECK(server.next(at(11)) == at(110));
}

TEST_CASE("an io server's times are rounded against it") {
  IoServer server(333'333);
  server.serve(at(0), caller(10, 1));
  CHECK(server.available(at(0)) == units(3));
  server.charge(at(1), units(1));
  server.block(at(1));
  CHECK(server.next(at(1)) == at(4));  // 3.000003, rounded up
  CHECK(io_budget(1, units(10)) == units(1));
}

TEST_CASE("an io server is to others a task with jitter T - U T") {
  const Interference other = io_interference(tenth, units(80));
  CHECK(other.budget == 8);
  CHECK(other.period == 80);
  CHECK(other.jitter == 72);
}

TEST_CASE("both ways to charge an io server cover U w + (1 - U) U T in every window") {
  constexpr std::int64_t period = 1000;
  for (const Ppm share : {1'000, 100'000, 333'333, 900'000, 1'000'000}) {
    const std::int64_t budget = io_budget(share, units(period)).count();
    for (const Interference& other :
         {io_interference(share, units(period)), io_interference_without_jitter(share, units(period))}) {
      std::int64_t short_by = 0;
      for (std::int64_t w = 1; w <= 5 * period; ++w) {
        const std::int64_t runs = std::min(w * whole_core, share * w + (whole_core - share) * budget);
        short_by = std::max(short_by, runs - ceil_div(w + other.jitter, other.period) * other.budget * whole_core);
      }
      CHECK(short_by == 0);
    }
  }
  CHECK(io_interference_without_jitter(tenth, units(80)).budget == 16);  // 15.2, rounded up
}

TEST_CASE("a task that the bound with an I/O server admits keeps its deadline in the response-time analysis") {
  std::mt19937_64 random(59);
  int admitted = 0;
  for (int set = 0; set < 20'000; ++set) {
    std::vector<Usage> tasks;
    for (int i = 0; i <= set % 3; ++i)
      tasks.push_back({1 + static_cast<Ticks>(random() % 20'000), 10'000 + static_cast<Ticks>(random() % 40'000)});
    const auto share = static_cast<Ppm>(1000 * (10 + random() % 500));
    if (!rate_monotonic_with_io(tasks, std::vector<Ppm>{share})) continue;
    ++admitted;
    for (Usage& task : tasks) task = {task.budget * 1000, task.period * 1000};  // makes the server's budget whole
    std::sort(tasks.begin(), tasks.end(), [](const Usage& a, const Usage& b) { return a.period < b.period; });
    const std::size_t serves = random() % tasks.size();
    std::vector<Interference> above;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (i == serves) above.push_back(io_interference_without_jitter(share, units(tasks[i].period)));
      REQUIRE(response_time({tasks[i].budget, tasks[i].period}, above).value <= tasks[i].period);
      above.push_back({tasks[i].budget, tasks[i].period, 0});
    }
  }
  CHECK(admitted > 1000);
}

TEST_CASE("the bound with io servers charges (2 - U) U for each") {
  // Two tasks: 2 (sqrt 2 - 1) = .828427. A tenth costs .19.
  const std::vector<Ppm> one{tenth};
  CHECK(rate_monotonic_with_io(std::vector<Usage>{{319, 1000}, {319, 1000}}, one));
  CHECK_FALSE(rate_monotonic_with_io(std::vector<Usage>{{320, 1000}, {319, 1000}}, one));
  CHECK(rate_monotonic_with_io(std::vector<Usage>{{81, 100}}, one));
  CHECK_FALSE(rate_monotonic_with_io(std::vector<Usage>{{810'001, 1'000'000}}, one));
  CHECK(rate_monotonic_with_io({}, std::vector<Ppm>{whole_core}));
  CHECK_FALSE(rate_monotonic_with_io({}, std::vector<Ppm>{whole_core, 1}));
}

// Law.

TEST_CASE("an io server uses no window of length w for more than U w + (1 - U) U T") {
  std::mt19937_64 random(47);
  const auto between = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  for (int set = 0; set < 200; ++set) {
    const std::int64_t period = between(2, 40);
    const Ppm share = between(50'000, whole_core);
    IoServer server(share);
    server.serve(at(0), caller(period, 1));
    std::vector<std::int64_t> used_before{0};
    std::int64_t work = 0;
    for (std::int64_t t = 0; t < 150; ++t) {
      const std::int64_t arrives = random() % 4 == 0 ? between(1, 11) : 0;
      if (work == 0 && arrives > 0) server.wake(at(t));
      work += arrives;
      const bool runs = work > 0 && server.available(at(t)) > units(0);
      if (runs) server.charge(at(t + 1), units(1));
      if (runs && --work == 0) server.block(at(t + 1));
      used_before.push_back(used_before.back() + (runs ? 1 : 0));
    }
    const std::int64_t budget = io_budget(share, units(period)).count();
    std::int64_t worst = 0;  // the largest excess over the bound
    for (std::size_t from = 0; from < used_before.size(); ++from)
      for (std::size_t to = from; to < used_before.size(); ++to)
        worst = std::max(worst, (used_before[to] - used_before[from]) * whole_core -
                                    share * static_cast<std::int64_t>(to - from) - (whole_core - share) * budget);
    REQUIRE(worst == 0);
    REQUIRE(used_before.back() > 0);
  }
}
