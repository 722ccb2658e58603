#include "orb/sim/baselines/job_admission_simulator.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace job_admission_simulator_test {

using namespace corelane;
using namespace corelane::sim;
using corelane::sched::SoundAperiodicPolicy;
using corelane::sched::When;

namespace {

constexpr When axis[] = {When::never, When::per_task, When::per_job};

SoundAperiodicPolicy policy(When admission, When resetting = When::never, When balancing = When::never) {
  const auto sound = SoundAperiodicPolicy::of({admission, resetting, balancing});
  REQUIRE(sound);
  return *sound;
}

std::vector<SoundAperiodicPolicy> all_policies() {
  std::vector<SoundAperiodicPolicy> policies;
  for (const When admission : {When::per_task, When::per_job})
    for (const When resetting : axis)
      for (const When balancing : axis)
        if (const auto sound = SoundAperiodicPolicy::of({admission, resetting, balancing})) policies.push_back(*sound);
  return policies;
}

// Returns a task with an implicit deadline and one stage.
StagedTask task_of(std::int64_t budget, std::int64_t period, std::vector<std::size_t> processors = {0},
                   std::int64_t offset = 0) {
  return {.period = Duration{period},
          .deadline = Duration{period},
          .offset = Duration{offset},
          .stages = {{.budget = Duration{budget}, .processors = std::move(processors)}}};
}

Time at(std::int64_t ticks) { return Time{Duration{ticks}}; }

struct Totals {
  std::uint64_t arrived = 0, admitted = 0, misses = 0;
};

Totals totals_of(const JobAdmissionSimulator& simulator, std::size_t tasks) {
  Totals totals;
  for (std::size_t i = 0; i < tasks; ++i) {
    totals.arrived += simulator.report(i).arrived;
    totals.admitted += simulator.report(i).admitted;
    totals.misses += simulator.report(i).misses;
  }
  return totals;
}

std::vector<StagedTask> random_tasks(std::mt19937_64& random, std::size_t processors) {
  std::vector<StagedTask> tasks(3 + random() % 6);
  for (StagedTask& task : tasks) {
    const auto period = static_cast<std::int64_t>(50 + random() % 500);
    task.period = Duration{period};
    task.deadline = Duration{period - static_cast<std::int64_t>(random() % 20)};
    task.offset = Duration{static_cast<std::int64_t>(random() % 200)};
    for (std::uint64_t stages = 1 + random() % 3; stages > 0; --stages) {
      TaskStage stage{.budget = Duration{1 + static_cast<std::int64_t>(random() % 25) * period / 100}};
      const std::size_t home = random() % processors;
      for (std::size_t i = 0; i < processors; ++i) stage.processors.push_back((home + i) % processors);
      task.stages.push_back(stage);
    }
  }
  return tasks;
}

}  // namespace

TEST_CASE("a job has the response of preemptive deadline-monotonic priorities") {
  JobAdmissionSimulator simulator(1, policy(When::per_job), {task_of(1, 10), task_of(8, 40)});
  simulator.run(at(39));
  CHECK(simulator.report(0).arrived == 4);
  CHECK(simulator.report(0).worst == Duration{1});
  CHECK(simulator.report(1).worst == Duration{9});
}

TEST_CASE("a job runs until its end when the end of a stage and an arrival fall together") {
  JobAdmissionSimulator simulator(1, policy(When::per_job), {task_of(5, 10)});
  simulator.run(at(15));
  simulator.run(at(25));
  CHECK(simulator.report(0).arrived == 3);
  CHECK(simulator.report(0).admitted == 3);
  CHECK(simulator.report(0).worst == Duration{5});
}

TEST_CASE("a task that is refused with its first job has no other, if tasks are admitted") {
  // The first task leaves 0.1858 of the bound. The second one needs 0.2.
  const std::vector<StagedTask> tasks{task_of(40, 100), task_of(20, 100)};
  JobAdmissionSimulator per_task(1, policy(When::per_task), tasks);
  per_task.run(at(950));
  CHECK(per_task.report(0).admitted == 10);
  CHECK(per_task.report(1).arrived == 10);
  CHECK(per_task.report(1).admitted == 0);
}

TEST_CASE("jobs that come when others are done are admitted if idle processors are reset") {
  const std::vector<StagedTask> tasks{task_of(40, 100), task_of(20, 100, {0}, 50)};
  const auto admitted = [&](When resetting) {
    JobAdmissionSimulator simulator(1, policy(When::per_job, resetting), tasks);
    simulator.run(at(999));
    return simulator.report(1).admitted;
  };
  CHECK(admitted(When::never) == 0);
  CHECK(admitted(When::per_task) == 0);  // resets what aperiodic jobs left, and there are none
  CHECK(admitted(When::per_job) == 10);
}

TEST_CASE("load balancing uses the processor with the least synthetic utilization") {
  const std::vector<StagedTask> tasks{task_of(40, 100, {0, 1}), task_of(40, 100, {0, 1})};
  const auto admitted = [&](When balancing) {
    JobAdmissionSimulator simulator(2, policy(When::per_task, When::never, balancing), tasks);
    simulator.run(at(999));
    return totals_of(simulator, 2).admitted;
  };
  CHECK(admitted(When::never) == 10);
  CHECK(admitted(When::per_task) == 20);
  CHECK(admitted(When::per_job) == 20);
}

TEST_CASE("a job of several stages passes them one after the other") {
  StagedTask task = task_of(3, 100);
  task.stages.push_back({.budget = Duration{4}, .processors = {1}});
  task.stages.push_back({.budget = Duration{5}, .processors = {0}});
  JobAdmissionSimulator simulator(2, policy(When::per_job), {task});
  simulator.run(at(99));
  CHECK(simulator.report(0).worst == Duration{12});
}

TEST_CASE("under none of the fifteen policies an admitted job misses its deadline") {
  const auto policies = all_policies();
  REQUIRE(policies.size() == 15);
  std::map<std::tuple<When, When, When>, Totals> sums;
  for (std::uint64_t seed = 0; seed < 40; ++seed)
    for (const SoundAperiodicPolicy& chosen : policies) {
      std::mt19937_64 random(seed);
      const std::size_t processors = 1 + seed % 3;
      const std::vector<StagedTask> tasks = random_tasks(random, processors);
      JobAdmissionSimulator simulator(processors, chosen, tasks);
      simulator.run(at(5000));
      const Totals totals = totals_of(simulator, tasks.size());
      const auto& [admission, resetting, balancing] = chosen.axes();
      Totals& sum = sums[{admission, resetting, balancing}];
      sum.arrived += totals.arrived, sum.admitted += totals.admitted, sum.misses += totals.misses;
    }
  for (const auto& [axes, sum] : sums) {
    CHECK(sum.misses == 0);
    CHECK(sum.admitted > sum.arrived / 10);
    CHECK(sum.admitted < sum.arrived);
  }
  const auto admitted = [&](When admission, When resetting, When balancing) {
    return sums[{admission, resetting, balancing}].admitted;
  };
  CHECK(admitted(When::per_job, When::per_job, When::never) > admitted(When::per_job, When::never, When::never));
  CHECK(admitted(When::per_job, When::per_job, When::per_job) > admitted(When::per_task, When::never, When::never));
}

}  // namespace job_admission_simulator_test
