#include "services/corelane/real_run/release_schedule.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <utility>
#include <vector>

using namespace corelane;
using namespace corelane::tool;
using namespace std::chrono_literals;

namespace release_schedule_test {

std::vector<PlannedJob> planned(std::vector<sim::JobRelease> jobs, Duration length, Duration call_cost = 0ns) {
  sim::ListedJobs source({std::move(jobs)});
  return planned_jobs(source, 0, length, call_cost);
}

TEST_CASE("the jobs are those of the source, with the delays of their releases") {
  CHECK(planned({{.nominal = Time{}, .delay = {}, .demand = 3ms},
                 {.nominal = Time{10ms}, .delay = 1ms, .demand = 4ms},
                 {.nominal = Time{20ms}, .delay = {}, .demand = 5ms}},
                1s) == std::vector<PlannedJob>{{0ms, 3ms}, {11ms, 4ms}, {20ms, 5ms}});
}

TEST_CASE("what a call costs comes out of the demand of its job") {
  CHECK(planned({{.nominal = Time{}, .delay = {}, .demand = 3ms}}, 1s, 50us) == std::vector<PlannedJob>{{0ms, 2950us}});
}

// Edges.

TEST_CASE("a job that arrives at the end of the run, or later, is left out") {
  const std::vector<sim::JobRelease> jobs{{.nominal = Time{9ms}, .delay = {}, .demand = 1ms},
                                          {.nominal = Time{10ms}, .delay = {}, .demand = 1ms}};
  CHECK(planned(jobs, 10ms).size() == 1);
  CHECK(planned(jobs, 10ms + 1ns).size() == 2);
}

TEST_CASE("a job that needs less than a call costs has no demand left") {
  CHECK(planned({{.nominal = Time{}, .delay = {}, .demand = 40us}}, 1s, 50us) == std::vector<PlannedJob>{{0ms, 0ns}});
}

TEST_CASE("a job that would arrive before its predecessor arrives together with it") {
  CHECK(planned({{.nominal = Time{}, .delay = 5ms, .demand = 1ms}, {.nominal = Time{4ms}, .delay = {}, .demand = 1ms}},
                1s) == std::vector<PlannedJob>{{5ms, 1ms}, {5ms, 1ms}});
}

}  // namespace release_schedule_test
