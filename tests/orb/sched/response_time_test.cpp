#include "orb/sched/response_time.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "orb/sched/analysis/global.h"

using namespace corelane::sched;

namespace {

// Returns the responses of tasks in descending priority. Each entry is used as the task and as interference.
std::vector<Ticks> responses(const std::vector<Interference>& tasks, Ticks blocking = 0) {
  std::vector<Ticks> result;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Analysed task{tasks[i].budget, tasks[i].period, tasks[i].jitter, blocking};
    const Response response = response_time(task, std::span(tasks).first(i));
    REQUIRE(response.verdict == Response::Verdict::exact);
    result.push_back(response.value);
  }
  return result;
}

}  // namespace

TEST_CASE("published response times of implicit deadlines") {
  CHECK(responses({{1, 4}, {1, 5}, {3, 9}, {3, 18}}) == std::vector<Ticks>{1, 2, 7, 18});
  CHECK(responses({{1, 3}, {1, 4}, {2, 10}}) == std::vector<Ticks>{1, 2, 6});
}

TEST_CASE("with arbitrary deadlines the worst job of a busy period need not be the first") {
  const std::vector<Interference> above{{26, 70}};
  Windows windows;
  const Response response = response_time({.budget = 62, .period = 100}, above, {}, {}, &windows);
  CHECK(response.value == 118);
  REQUIRE(windows.count == Windows::capacity);
  const std::vector<Ticks> published{114, 102, 116, 104};
  for (std::size_t q = 0; q < published.size(); ++q) CHECK(windows.w[q] - static_cast<Ticks>(q) * 100 == published[q]);
}

TEST_CASE("jitter of those above and blocking lengthen the window, own jitter the response") {
  const std::vector<Interference> above{{1, 4, 1}};
  CHECK(response_time({.budget = 2, .period = 20}, above).value == 3);
  CHECK(response_time({.budget = 3, .period = 20}, above).value == 5);
  CHECK(response_time({.budget = 2, .period = 20, .jitter = 5}, above).value == 8);
  CHECK(response_time({.budget = 2, .period = 20, .jitter = 0, .blocking = 1}, above).value == 5);
}

TEST_CASE("a warm start per window finds the least fixpoint where one of the response would not") {
  const Analysed task{.budget = 4, .period = 1000, .jitter = 15};
  std::vector<Interference> above{{2, 12}, {3, 15}};
  Windows before;
  const Response old = response_time(task, above, {}, {}, &before);
  REQUIRE(before.w[0] == 9);
  REQUIRE(old.value == 24);

  above.push_back({4, 32});
  Windows start = before;
  start.w[0] += 4;
  CHECK(response_time(task, above, {}, start).value == 15 + 15);
  start.w[0] = old.value + 4;  // the mistake: the start is a response
  CHECK(response_time(task, above, {}, start).value == 15 + 18);
}

TEST_CASE("warm and cold starts agree on random sets") {
  std::mt19937_64 random(7);
  for (int set = 0; set < 2000; ++set) {
    std::vector<Interference> above;
    for (int i = 0; i < 4; ++i) {
      const auto period = static_cast<Ticks>(20 + random() % 200);
      above.push_back({1 + static_cast<Ticks>(random() % 10), period, static_cast<Ticks>(random() % 30)});
    }
    const Analysed task{1 + static_cast<Ticks>(random() % 40), 60 + static_cast<Ticks>(random() % 100),
                        static_cast<Ticks>(random() % 20)};
    const Limits limits{.stop_above = 5000};
    Windows windows;
    const auto three = std::span(above).first(3);
    if (response_time(task, three, limits, {}, &windows).verdict != Response::Verdict::exact) continue;
    for (std::size_t q = 0; q < windows.count; ++q) windows.w[q] += above[3].budget;
    const Response cold = response_time(task, above, limits);
    const Response warm = response_time(task, above, limits, windows);
    CHECK(cold.verdict == warm.verdict);
    if (cold.verdict == Response::Verdict::exact) CHECK(cold.value == warm.value);
  }
}

TEST_CASE("the one-pass bound is never below the exact response") {
  std::mt19937_64 random(11);
  int compared = 0;
  for (int set = 0; set < 5000; ++set) {
    std::vector<Interference> above;
    for (int i = 0; i < 5; ++i)
      above.push_back({1 + static_cast<Ticks>(random() % 12), 40 + static_cast<Ticks>(random() % 200),
                       static_cast<Ticks>(random() % 40)});
    const Analysed task{1 + static_cast<Ticks>(random() % 40), 60 + static_cast<Ticks>(random() % 100),
                        static_cast<Ticks>(random() % 20), static_cast<Ticks>(random() % 5)};
    const Ticks bound = response_upper_bound(task, above);
    if (bound == endless) continue;
    const Response exact = response_time(task, above);
    REQUIRE(exact.verdict == Response::Verdict::exact);
    REQUIRE(exact.value <= bound);
    ++compared;
  }
  CHECK(compared > 3000);
}

TEST_CASE("published bounds of global fixed priorities on two and three cores") {
  const std::vector<SporadicTask> tasks{{1, 4, 4}, {1, 5, 5}, {3, 9, 9}, {9, 18, 18}};
  std::vector<Ticks> r(4);
  REQUIRE(global_response_times(tasks, 2, r));
  CHECK(r == std::vector<Ticks>{1, 1, 4, 15});
  REQUIRE(global_response_times(tasks, 3, r));
  CHECK(r == std::vector<Ticks>{1, 1, 3, 12});
}

TEST_CASE("the bounds of global fixed priorities are those of the plain iteration") {
  const auto workload = [](const SporadicTask& task, Ticks response, Ticks window) {
    const Ticks reach = window + response - task.budget, whole = reach / task.period;
    return whole * task.budget + std::min(task.budget, reach - whole * task.period);
  };
  // Returns the bound of the last task; 0 if it is above the deadline.
  const auto plain = [&](const std::vector<SporadicTask>& tasks, int cores, const std::vector<Ticks>& above) {
    const SporadicTask& own = tasks[above.size()];
    for (Ticks window = own.budget; window <= own.deadline;) {
      Ticks sum = 0;
      for (std::size_t i = 0; i < above.size(); ++i)
        sum += std::min(workload(tasks[i], above[i], window), window - own.budget + 1);
      if (own.budget + sum / cores == window) return window;
      window = own.budget + sum / cores;
    }
    return Ticks{0};
  };
  std::mt19937_64 random(11);
  int held = 0, failed = 0;
  for (int set = 0; set < 3000; ++set) {
    const int cores = 1 + static_cast<int>(random() % 4);
    std::vector<SporadicTask> tasks(2 + random() % 6);
    for (SporadicTask& task : tasks) {
      task.period = static_cast<Ticks>(5 + random() % 200);
      task.deadline = task.period - static_cast<Ticks>(random() % 3);
      task.budget = 1 + static_cast<Ticks>(random() % 50) * task.deadline / 100;
    }
    std::vector<Ticks> expected, bounds(tasks.size());
    for (Ticks bound = 1; bound > 0 && expected.size() < tasks.size();)
      if ((bound = plain(tasks, cores, expected)) > 0) expected.push_back(bound);
    const bool holds = global_response_times(tasks, cores, bounds);
    REQUIRE(holds == (expected.size() == tasks.size()));
    if (holds) REQUIRE(bounds == expected);
    ++(holds ? held : failed);
  }
  CHECK(held > 300);
  CHECK(failed > 300);
}

// Edges.

TEST_CASE("a response equal to the limit is in time and one above is late") {
  const std::vector<Interference> above{{1, 4}, {1, 5}, {3, 9}};
  const Analysed task{3, 18};
  CHECK(response_time(task, above, {.stop_above = 18}).verdict == Response::Verdict::exact);
  CHECK(response_time(task, above, {.stop_above = 17}).verdict == Response::Verdict::late);
}

TEST_CASE("an analysis in pieces of any size gives the answer of one in one piece") {
  const std::vector<Interference> above{{26, 70, 3}, {5, 33, 0}, {1, 7, 20}};
  for (const Ticks deadline : {Ticks{40}, Ticks{118}, Ticks{100'000}}) {
    const Analysed task{.budget = 40, .period = 130, .jitter = 2, .blocking = 3};
    const Limits limits{.stop_above = deadline};
    Windows whole;
    const Response expected = response_time(task, above, limits, {}, &whole);
    for (int piece = 1; piece < 6; ++piece) {
      ResponseSearch search;
      search.begin(task, above, limits);
      int pieces = 0;
      for (int left = piece; !search.step(left); left = piece, ++pieces) REQUIRE(left == 0);
      CHECK(search.response().verdict == expected.verdict);
      CHECK(search.response().value == expected.value);
      if (expected.verdict == Response::Verdict::exact) CHECK(search.windows().w == whole.w);
      if (piece == 1 && deadline > 100) CHECK(pieces > 0);
    }
  }
}

TEST_CASE("a busy period ends where all that was released is done") {
  const std::vector<Interference> set{{26, 70, 0}, {62, 100, 0}};
  CHECK(busy_period(set, 0) == 694);  // seven jobs of the second, ten of the first
  CHECK(busy_period(std::vector<Interference>{{2, 10, 0}, {3, 20, 0}}, 4) == 9);
  CHECK(busy_period(std::vector<Interference>{{2, 10, 9}}, 0) == 4);
  CHECK(busy_period(std::vector<Interference>{{6, 10, 0}, {5, 12, 0}}, 0) == endless);
  CHECK(busy_period({}, 0) == 0);
}

// Chen et al. 2019, "Many suspensions, many problems": (C 1, T 2), (C 5, S 5, T 20), and (C 1) below them. With S as
// the jitter of the task that sleeps, the third task's response would be 12. In truth it is 22.
TEST_CASE("a task that suspends itself may run late and then early again") {
  const std::vector<Interference> above{{1, 2, 0}};
  const Response sleeper = response_time({.budget = 5 + 5, .period = 20}, above);
  CHECK(sleeper.value == 20);
  const auto below = [&](Ticks jitter) {
    const std::vector<Interference> both{{1, 2, 0}, {5, 20, jitter}};
    return response_time({.budget = 1, .period = 100}, both).value;
  };
  CHECK(below(5) == 12);
  CHECK(below(sleeper.value - 5) == 22);
}

// Error paths.

TEST_CASE("an analysis that runs out of steps says so") {
  const std::vector<Interference> above{{1, 4}, {1, 5}, {3, 9}};
  CHECK(response_time({3, 18}, above, {.iterations = 2}).verdict == Response::Verdict::undecided);
}

TEST_CASE("an overloaded core has no response and no overflow") {
  const std::vector<Interference> above{{3'600'000'000'000, 3'600'000'000'000}, {1, 1}};
  const Response response = response_time({1'000'000, 3'600'000'000'000}, above);
  CHECK(response.verdict != Response::Verdict::exact);
  CHECK(response_upper_bound({1, 10}, above) == endless);
}
