// Tests the profile of the stages of recorded jobs.
#include "services/corelane/scale/stage_profile.h"

#include <catch2/catch.hpp>
#include <chrono>

#include "tests/services/corelane/trace/recording.h"

namespace stage_profile_test {

using namespace corelane;
using namespace std::chrono_literals;

namespace {

void run_job(testing::Recording& recording, Duration at, std::uint64_t task, std::uint64_t job) {
  recording.scheduler(at, sched::Arrived{.at = Time{at}, .job = JobId{job}, .task = TaskId{task}});
  recording.start(at + 10us, task, job, 1);
  recording.finish(at + 100us, task, job, 30us);
}

}  // namespace

TEST_CASE("a job waits to begin, executes, and is away for the rest") {
  testing::Recording recording;
  recording.admit(1us, 5, 1, "Plant/step");
  run_job(recording, 1ms, 5, 1);
  run_job(recording, 11ms, 5, 2);
  const auto profile = tool::stage_profile(recording.trace);
  REQUIRE(profile.size() == 3);
  CHECK(profile[0].function == "Plant/step: waits to begin");
  CHECK(profile[0].time == 10'000);
  CHECK(profile[1].function == "Plant/step: executes");
  CHECK(profile[1].time == 30'000);
  CHECK(profile[2].function == "Plant/step: is preempted or waits");
  CHECK(profile[2].time == 60'000);
}

TEST_CASE("tasks of one label count as one, and a task without a name has its number") {
  testing::Recording recording;
  recording.admit(1us, 5, 1, "Plant/step");
  recording.admit(1us, 6, 1, "Plant/step");
  run_job(recording, 1ms, 5, 1);
  run_job(recording, 11ms, 6, 2);
  run_job(recording, 21ms, 7, 3);
  const auto profile = tool::stage_profile(recording.trace);
  REQUIRE(profile.size() == 6);
  CHECK(profile[0].function == "Plant/step: waits to begin");
  CHECK(profile[3].function == "task 7: waits to begin");
}

TEST_CASE("a job whose arrival was overwritten, or that has not ended, does not count") {
  testing::Recording recording;
  recording.admit(1us, 5, 1, "Plant/step");
  recording.start(1ms, 5, 1, 1);
  recording.finish(2ms, 5, 1);
  recording.scheduler(3ms, sched::Arrived{.at = Time{3ms}, .job = JobId{2}, .task = TaskId{5}});
  recording.start(4ms, 5, 2, 1);
  CHECK(tool::stage_profile(recording.trace).empty());
}

}  // namespace stage_profile_test
