#include "orb/sched/analysis/demand.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>
#include <vector>

#include "orb/sched/analysis/edf_response.h"
#include "orb/sched/analysis/splitting.h"

namespace demand_test {

using namespace corelane::sched;
using Kind = DemandVerdict::Kind;

namespace {

using Tasks = std::vector<EdfTask>;

// (C, T, D) as in the literature.
const Tasks published{{6000, 31000, 18000}, {2000, 9800, 9000}, {1000, 17000, 12000}, {90, 4200, 3000},
                      {8, 96, 78},          {2, 12, 16},        {10, 280, 120},       {26, 660, 160}};

EdfTask implicit(Ticks budget, Ticks period) { return {.budget = budget, .period = period, .deadline = period}; }

// Returns whether h(t) <= t at every instant up to `until`, by the definition.
bool holds_up_to(const Tasks& tasks, Ticks until) {
  for (Ticks t = 1; t <= until; ++t) {
    Ticks sum = 0;
    for (const EdfTask& task : tasks)
      for (Ticks release = 0; release + task.deadline <= t; release = std::max(Ticks{0}, release)) {
        sum += task.budget;
        const Ticks k = (release + task.jitter) / task.period + 1;
        release = k * task.period - task.jitter;
      }
    if (sum > t) return false;
  }
  return true;
}

Tasks random_tasks(std::mt19937_64& random, bool jittered, bool constrained) {
  static constexpr Ticks periods[] = {4, 5, 6, 8, 10, 12, 15, 20, 24, 30};  // their least common multiple is 120
  Tasks tasks;
  const auto count = 2 + random() % 3;
  for (std::size_t i = 0; i < count; ++i) {
    const Ticks period = periods[random() % 10];
    const Ticks budget = 1 + static_cast<Ticks>(random() % static_cast<std::uint64_t>(period)) / 2;
    const Ticks spread = 1 + static_cast<Ticks>(random() % static_cast<std::uint64_t>(2 * period));
    const Ticks deadline = constrained ? std::max(budget, std::min(spread, period)) : std::max(budget, spread);
    const Ticks jitter = jittered ? static_cast<Ticks>(random() % static_cast<std::uint64_t>(period)) : 0;
    tasks.push_back({budget, period, deadline, jitter});
  }
  return tasks;
}

Ticks load_of(const Tasks& tasks) {  // in 120ths of the core
  Ticks load = 0;
  for (const EdfTask& task : tasks) load += task.budget * (120 / task.period);
  return load;
}

// Simulates earliest deadline first, tick by tick. Task i is first released at offsets[i]. Returns the worst response
// of tasks[which], which loses every tie.
Ticks simulate(const Tasks& tasks, const std::vector<Ticks>& offsets, std::size_t which, Ticks until) {
  struct Job {
    Ticks deadline, released, left;
    bool loses;
  };
  std::vector<Job> ready;
  Ticks worst = 0;
  for (Ticks now = 0; now < until; ++now) {
    for (std::size_t i = 0; i < tasks.size(); ++i)
      if (now >= offsets[i] && (now - offsets[i]) % tasks[i].period == 0)
        ready.push_back({now + tasks[i].deadline, now, tasks[i].budget, i == which});
    if (ready.empty()) continue;
    const auto first = std::min_element(ready.begin(), ready.end(), [](const Job& a, const Job& b) {
      return a.deadline != b.deadline ? a.deadline < b.deadline : a.loses < b.loses;
    });
    if (--first->left > 0) continue;
    if (first->loses) worst = std::max(worst, now + 1 - first->released);
    ready.erase(first);
  }
  return worst;
}

}  // namespace

TEST_CASE("the published set holds under earliest deadline first, and not with one task more") {
  CHECK(demand_analysis(published).kind == Kind::holds);
  const EdfTask candidate{10, 100, 15};
  const DemandVerdict verdict = demand_analysis_with(candidate, published);
  CHECK(verdict.kind == Kind::fails);
  CHECK(verdict.demand > verdict.at);
  Tasks all = published;
  all.push_back(candidate);
  CHECK(demand_analysis(all).kind == Kind::fails);
  CHECK(demand(all, verdict.at) == verdict.demand);
}

TEST_CASE("demand counts the jobs with release and deadline in the window") {
  const Tasks tasks{{2, 10, 7}, {1, 4, 6, 3}};
  CHECK(demand(tasks, 5) == 0);
  CHECK(demand(tasks, 6) == 1);
  CHECK(demand(tasks, 7) == 4);  // the second task's next job comes 1 later, with deadline 7
  CHECK(demand(tasks, 17) == 4 + 3 + 1);
}

TEST_CASE("implicit deadlines hold exactly up to a full core") {
  CHECK(demand_analysis(Tasks{implicit(1, 3), implicit(1, 3), implicit(1, 3)}).kind == Kind::holds);
  CHECK(demand_analysis(Tasks{implicit(1, 3), implicit(1, 3), implicit(1'000'000'001, 3'000'000'000)}).kind ==
        Kind::fails);
  CHECK(demand_analysis({}).kind == Kind::holds);
  CHECK(demand_analysis(Tasks{{5, 10, 5}}).kind == Kind::holds);
  CHECK(demand_analysis(Tasks{{5, 10, 4}}).kind == Kind::fails);
}

TEST_CASE("quick demand analysis agrees with every instant on random sets") {
  std::mt19937_64 random(17);
  int held = 0;
  int failed = 0;
  for (int set = 0; set < 6000; ++set) {
    const Tasks tasks = random_tasks(random, set % 2 == 0, set % 3 == 0);
    const DemandVerdict verdict = demand_analysis(tasks);
    if (verdict.kind == Kind::undecided) {  // a full core with jitter: a busy period has no end
      REQUIRE(load_of(tasks) == 120);
      continue;
    }
    if (load_of(tasks) > 120) REQUIRE(verdict.kind == Kind::fails);
    if (load_of(tasks) > 120) continue;
    REQUIRE((verdict.kind == Kind::holds) == holds_up_to(tasks, 300));  // 120 plus the longest deadline and jitter
    ++(verdict.kind == Kind::holds ? held : failed);
  }
  CHECK(held > 500);
  CHECK(failed > 500);
}

TEST_CASE("published worst responses under earliest deadline first") {
  const Tasks tasks{implicit(3, 12), implicit(2, 4)};
  CHECK(edf_response_time(tasks, 0).value == 7);
  CHECK(edf_response_time(tasks, 1).value == 2);
}

TEST_CASE("under earliest deadline first the worst response is reached at some offset and exceeded at none") {
  std::mt19937_64 random(23);
  int compared = 0;
  for (int set = 0; compared < 40; ++set) {
    Tasks tasks = random_tasks(random, false, set % 2 == 0);
    tasks.resize(2);
    if (load_of(tasks) > 120) continue;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      Ticks seen = 0;
      for (Ticks offset = 0; offset < 60; ++offset) {  // of each task against the other
        seen = std::max(seen, simulate(tasks, {offset, 0}, i, 300));
        seen = std::max(seen, simulate(tasks, {0, offset}, i, 300));
      }
      REQUIRE(seen == edf_response_time(tasks, i).value);
    }
    ++compared;
  }
}

TEST_CASE("all responses are within their deadlines exactly where the demand holds") {
  std::mt19937_64 random(29);
  for (int set = 0; set < 2000; ++set) {
    const Tasks tasks = random_tasks(random, set % 2 == 0, set % 3 == 0);
    if (load_of(tasks) >= 120) continue;
    bool in_time = true;
    for (std::size_t i = 0; i < tasks.size(); ++i) in_time &= edf_response_time(tasks, i).value <= tasks[i].deadline;
    REQUIRE(in_time == (demand_analysis(tasks).kind == Kind::holds));
  }
}

TEST_CASE("published splits give the largest first part") {
  const auto first = [](const Tasks& tasks, const EdfTask& task) { return largest_first_part(tasks, task).budget; };
  CHECK(first({implicit(66, 100)}, implicit(66, 100)) == 34);
  CHECK(first({implicit(14, 40), implicit(16, 48)}, implicit(6, 16)) == 5);
  CHECK(first({{1, 16, 11}, implicit(6, 15), implicit(9, 20)}, implicit(6, 12)) == 1);
  CHECK(first({implicit(10, 100), implicit(30, 100)}, implicit(21, 30)) == 16);
}

TEST_CASE("the largest first part is the one that trying all finds") {
  std::mt19937_64 random(31);
  int cut = 0;
  for (int set = 0; set < 3000; ++set) {
    Tasks tasks = random_tasks(random, false, set % 3 == 0);
    const EdfTask task = tasks.back();
    tasks.pop_back();
    if (demand_analysis(tasks).kind != Kind::holds) continue;
    Ticks largest = 0;
    for (Ticks budget = 1; budget <= task.budget; ++budget)
      if (demand_analysis_with({budget, task.period, budget}, tasks).kind == Kind::holds) largest = budget;
    REQUIRE(largest_first_part(tasks, task).budget == largest);
    cut += 0 < largest && largest < task.budget;
  }
  CHECK(cut > 100);
}

TEST_CASE("three tasks of two thirds fit two cores only when one is split") {
  const Tasks one{implicit(66, 100)};
  const std::vector<std::span<const EdfTask>> cores{one, one};
  CHECK(demand_analysis_with(implicit(66, 100), one).kind == Kind::fails);
  std::vector<SplitPart> parts(2);
  const Split result = split(cores, implicit(66, 100), parts);
  REQUIRE(result.kind == Kind::holds);
  REQUIRE(result.count == 2);
  CHECK(parts[0].core == 0);
  CHECK(parts[0].part.budget == 34);
  CHECK(parts[0].part.deadline == 34);
  CHECK(parts[1].core == 1);
  CHECK(parts[1].offset == 34);
  CHECK(parts[1].part.budget == 32);
  CHECK(parts[1].part.deadline == 66);
  CHECK(demand_analysis_with(parts[1].part, one).kind == Kind::holds);
}

TEST_CASE("a task that fits is not cut and one that fits nowhere is not placed") {
  const Tasks half{implicit(50, 100)};
  const std::vector<std::span<const EdfTask>> cores{half, half};
  std::vector<SplitPart> parts(2);
  CHECK(split(cores, implicit(50, 100), parts).count == 1);
  CHECK(split(cores, EdfTask{100, 100, 100}, parts).kind == Kind::holds);
  CHECK(split(cores, EdfTask{101, 100, 101}, parts).kind == Kind::fails);
  CHECK(split({}, implicit(1, 100), parts).kind == Kind::fails);
}

// Error paths.

TEST_CASE("an analysis under earliest deadline first that runs out of steps says so") {
  CHECK(demand_analysis(published, {.iterations = 3}).kind == Kind::undecided);
  CHECK(edf_response_time(published, 0, {.iterations = 3}).verdict == Response::Verdict::undecided);
  CHECK(largest_first_part(published, {10, 100, 15}, {.iterations = 3}).kind == Kind::undecided);
}

TEST_CASE("demand beyond 63 bits and an overloaded core have safe answers") {
  constexpr Ticks hour = 3'600'000'000'000;
  CHECK(demand(Tasks{{hour, 1, 1}}, endless - 1) == endless);
  CHECK(demand_analysis(Tasks{{hour, hour, hour}, {1, hour, hour}}).kind == Kind::fails);
  CHECK(edf_response_time(Tasks{{hour, hour, hour}, {1, hour, hour}}, 0).verdict == Response::Verdict::undecided);
  CHECK(edf_response_time(published, 0, {.stop_above = 6000}).verdict == Response::Verdict::late);
}

}  // namespace demand_test
