#include "orb/eval/generate/job_sequence.h"

#include <catch2/catch.hpp>
#include <set>

#include "tests/orb/eval/generate/moments.h"

namespace job_sequence_test {

using namespace corelane;
using namespace corelane::eval;
using corelane::eval::testing::Moments;
using namespace std::chrono_literals;

namespace {

Task task_of(Arrival arrival, Execution execution = {}) {
  return {.label = "t",
          .contract = make_contract(10ms, 2ms),
          .offset = 3ms,
          .arrival = arrival,
          .execution = std::move(execution)};
}

std::vector<Duration> releases_of(const Task& task, int jobs, std::uint64_t seed = 1) {
  JobSequence sequence(task, seed);
  std::vector<Duration> releases;
  for (int i = 0; i < jobs; ++i) releases.push_back(sequence.next().release);
  return releases;
}

}  // namespace

TEST_CASE("periodic jobs come a period apart from the offset on, and execute for the budget") {
  const Task task = task_of({});
  CHECK(releases_of(task, 3) == std::vector<Duration>{3ms, 13ms, 23ms});
  CHECK(JobSequence(task, 1).next().execution == 2ms);
}

TEST_CASE("the gaps of sporadic jobs are uniform up to the longest one") {
  const auto releases = releases_of(task_of({.kind = ArrivalKind::sporadic, .gap = 4ms}), 20'000);
  Moments gaps;
  for (std::size_t i = 1; i < releases.size(); ++i) {
    const Duration gap = releases[i] - releases[i - 1] - 10ms;
    REQUIRE(gap >= 0ms);
    REQUIRE(gap <= 4ms);
    gaps.add(std::chrono::duration<double, std::milli>(gap).count());
  }
  CHECK(gaps.has_mean(2));
  CHECK(gaps.has_variance(16.0 / 12));
}

TEST_CASE("a gap follows each burst, and the jobs of a burst are a period apart") {
  const auto releases = releases_of(task_of({.kind = ArrivalKind::bursty, .gap = 1s, .burst = 3}), 30);
  std::set<Duration> distances;
  for (std::size_t i = 1; i < releases.size(); ++i) {
    const Duration distance = releases[i] - releases[i - 1];
    if (i % 3 != 0) CHECK(distance == 10ms);
    if (i % 3 == 0) distances.insert(distance);
  }
  CHECK(distances.size() == 9);
  CHECK(*distances.begin() > 10ms);
}

TEST_CASE("execution times are uniform between two parts of the budget") {
  const Task task = task_of({}, {.least = {500'000}, .most = {1'500'000}});
  JobSequence sequence(task, 7);
  Moments times;
  for (int i = 0; i < 20'000; ++i)
    times.add(std::chrono::duration<double, std::milli>(sequence.next().execution).count());
  CHECK(times.has_mean(2));
  CHECK(times.has_variance(4.0 / 12));
}

TEST_CASE("a trace gives its execution times in turn, and then from the beginning again") {
  const Task task = task_of({}, {.trace = {1ms, 5ms}});
  JobSequence sequence(task, 1);
  CHECK(sequence.next().execution == 1ms);
  CHECK(sequence.next().execution == 5ms);
  CHECK(sequence.next().execution == 1ms);
}

TEST_CASE("no job executes for less than a nanosecond") {
  const Task task = task_of({}, {.least = {1}, .most = {1}});
  Task tiny = task;
  tiny.contract.budget = 1ns;
  CHECK(JobSequence(tiny, 1).next().execution == 1ns);
}

TEST_CASE("the same seed gives the same jobs, and another task of the set others") {
  const Task task = task_of({.kind = ArrivalKind::sporadic, .gap = 10ms});
  const Scenario scenario{.seed = 5};
  CHECK(releases_of(task, 9, job_seed(scenario, 0, 2)) == releases_of(task, 9, job_seed(scenario, 0, 2)));
  std::set<std::uint64_t> seeds;
  for (std::int64_t set = 0; set < 10; ++set)
    for (std::size_t index = 0; index < 100; ++index) seeds.insert(job_seed(scenario, set, index));
  CHECK(seeds.size() == 1000);
}

}  // namespace job_sequence_test
