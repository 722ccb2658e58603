#include "orb/sched/servers/deferrable_server.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "tests/orb/sched/whole_units.h"

namespace deferrable_server_test {

using namespace corelane;
using namespace corelane::sched;
using namespace corelane::sched::testing;

TEST_CASE("a deferrable server keeps its budget and is full again at each period") {
  DeferrableServer server(reservation(3, 10));
  CHECK(server.budget(at(7)) == units(3));
  server.charge(at(9), units(2));
  CHECK(server.budget(at(9)) == units(1));
  CHECK(server.budget(at(10)) == units(3));
  CHECK(server.budget(at(35)) == units(3));
}

TEST_CASE("an exhausted deferrable server waits for the next period") {
  DeferrableServer server(reservation(3, 10));
  server.charge(at(3), units(3));
  CHECK(server.available(at(3)) == units(0));
  CHECK(server.next(at(3)) == at(10));
  CHECK(server.available(at(9)) == units(0));
  CHECK(server.available(at(10)) == units(3));
}

TEST_CASE("a run over the end of a period uses both budgets back to back") {
  DeferrableServer server(reservation(3, 10));
  CHECK(server.available(at(6)) == units(3));
  CHECK(server.available(at(7)) == units(6));
  server.charge(at(13), units(6));
  CHECK(server.budget(at(13)) == units(0));
  CHECK(server.next(at(13)) == at(20));
}

TEST_CASE("the time that a run used after a replenishment counts against that replenishment") {
  DeferrableServer server(reservation(5, 10));
  server.charge(at(12), units(4));
  CHECK(server.budget(at(12)) == units(3));
}

TEST_CASE("an overrun of a deferrable server is paid by the budgets to come") {
  DeferrableServer server(reservation(3, 10));
  server.charge(at(8), units(8));
  CHECK(server.budget(at(8)) == units(-5));
  CHECK(server.next(at(8)) == at(20));
  CHECK(server.budget(at(10)) == units(-2));
  CHECK(server.budget(at(20)) == units(1));
  CHECK(server.budget(at(30)) == units(3));
}

TEST_CASE("a deferrable server has nothing before its start") {
  DeferrableServer server(reservation(3, 10), at(25));
  CHECK(server.available(at(24)) == units(0));
  CHECK(server.next(at(24)) == at(25));
  CHECK(server.available(at(25)) == units(3));
}

TEST_CASE("a deferrable server is to others a task with jitter T - C") {
  const Interference other = interference_of(DeferrableServer(reservation(3, 10)));
  CHECK(other.jitter == 7);
  // The budget is used at the end of one period and again at the beginning of the next: 3 + 3 + 1.
  CHECK(response_time({.budget = 1, .period = 100}, std::vector{other}).value == 7);
}

TEST_CASE("the bound below a deferrable server is ln of (U + 2) over (2 U + 1)") {
  // U_s = 1/5: the bound is ln(11/7) = .45199 for many small tasks, and 4/7 for one task.
  const auto equal = [](std::size_t n, Ticks per_million) {
    return std::vector<Usage>(n, Usage{per_million, 1'000'000});
  };
  CHECK(fits_below(reservation(1, 5), equal(1, 571'428)));
  CHECK_FALSE(fits_below(reservation(1, 5), equal(1, 571'429)));
  CHECK(fits_below(reservation(1, 5), equal(1000, 451)));
  CHECK_FALSE(fits_below(reservation(1, 5), equal(1000, 453)));
  CHECK(fits_below(reservation(1, 1), {}));
  CHECK_FALSE(fits_below(reservation(1, 1), std::vector<Usage>{{1, 1'000'000'000}}));
}

TEST_CASE("below a deferrable server of more than a quarter the bound asks for periods of T + C") {
  // (43, 100) passes 7/16 below (30, 100). But the server may run for 60 in its period, so the response is 103.
  const std::vector<Interference> above{interference_of(DeferrableServer(reservation(30, 100)))};
  CHECK(response_time({.budget = 43, .period = 100}, above).value == 103);
  CHECK_FALSE(fits_below(reservation(30, 100), std::vector<Usage>{{43, 100}}));
  CHECK_FALSE(fits_below(reservation(30, 100), std::vector<Usage>{{1, 129}}));
  CHECK(fits_below(reservation(30, 100), std::vector<Usage>{{1, 130}}));
  CHECK(fits_below(reservation(25, 100), std::vector<Usage>{{50, 100}}));
  CHECK_FALSE(fits_below(reservation(25, 100), std::vector<Usage>{{1, 99}}));
}

TEST_CASE("a task that the bound below a deferrable server admits keeps its deadline in the response-time analysis") {
  std::mt19937_64 random(3);
  int admitted = 0;
  for (int set = 0; set < 20'000; ++set) {
    const auto period = static_cast<Ticks>(20 + random() % 100);
    const auto server = reservation(1 + static_cast<Ticks>(random() % 60) % period, period);
    std::vector<Usage> tasks;
    for (std::uint64_t i = 0; i < 1 + random() % 3; ++i)
      tasks.push_back({1 + static_cast<Ticks>(random() % 60), period + static_cast<Ticks>(random() % 200)});
    if (!fits_below(server, tasks)) continue;
    ++admitted;
    std::sort(tasks.begin(), tasks.end(), [](const Usage& a, const Usage& b) { return a.period < b.period; });
    std::vector<Interference> above{interference_of(DeferrableServer(server))};
    for (const Usage& task : tasks) {
      REQUIRE(response_time({.budget = task.budget, .period = task.period}, above).value <= task.period);
      above.push_back({task.budget, task.period, 0});
    }
  }
  CHECK(admitted > 2000);
}

}  // namespace deferrable_server_test
