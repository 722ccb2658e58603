#include "services/corelane/real_run/counterfactual.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <vector>

using namespace corelane;
using namespace corelane::tool;
using namespace std::chrono_literals;

namespace counterfactual_test {

constexpr CoreId first{0}, second{3};

ReplayedJob job(std::size_t task, Duration release, Duration execution, int priority, CoreId core = first) {
  return {.task = task, .release = release, .execution = execution, .priority = Priority{priority}, .core = core};
}

using Ends = std::vector<Duration>;

TEST_CASE("a more urgent job preempts the one that runs") {
  const std::vector<ReplayedJob> jobs{job(0, 0ms, 10ms, 1), job(1, 4ms, 3ms, 2)};
  CHECK(finish_times(jobs, ReplayCores::own) == Ends{13ms, 7ms});
}

TEST_CASE("a less urgent job waits until the core is idle") {
  const std::vector<ReplayedJob> jobs{job(0, 0ms, 5ms, 2), job(1, 1ms, 2ms, 1), job(0, 6ms, 5ms, 2)};
  CHECK(finish_times(jobs, ReplayCores::own) == Ends{5ms, 12ms, 11ms});
}

TEST_CASE("each core runs its own jobs") {
  const std::vector<ReplayedJob> jobs{job(0, 0ms, 10ms, 1, first), job(1, 0ms, 4ms, 1, second)};
  CHECK(finish_times(jobs, ReplayCores::own) == Ends{10ms, 4ms});
}

TEST_CASE("a task whose jobs ran on two cores has its jobs on both") {
  const std::vector<ReplayedJob> jobs{job(0, 0ms, 2ms, 1, first), job(0, 5ms, 2ms, 1, second),
                                      job(1, 4ms, 9ms, 2, first)};
  CHECK(finish_times(jobs, ReplayCores::own) == Ends{2ms, 7ms, 13ms});
}

TEST_CASE("jobs that may run on any core use all of them, the most urgent first") {
  const std::vector<ReplayedJob> jobs{job(0, 0ms, 10ms, 3, first), job(1, 0ms, 4ms, 2, first),
                                      job(2, 0ms, 5ms, 1, second)};
  CHECK(finish_times(jobs, ReplayCores::any) == Ends{10ms, 4ms, 9ms});
}

// Edges.

TEST_CASE("jobs of one task run one after the other") {
  const std::vector<ReplayedJob> jobs{job(0, 0ms, 5ms, 1), job(0, 2ms, 5ms, 1)};
  CHECK(finish_times(jobs, ReplayCores::own) == Ends{5ms, 10ms});
}

TEST_CASE("a job without execution ends when it may run") {
  const std::vector<ReplayedJob> jobs{job(0, 0ms, 5ms, 2), job(1, 3ms, 0ms, 1)};
  CHECK(finish_times(jobs, ReplayCores::own) == Ends{5ms, 5ms});
}

TEST_CASE("nothing is replayed of no jobs") { CHECK(finish_times({}, ReplayCores::any).empty()); }

}  // namespace counterfactual_test
