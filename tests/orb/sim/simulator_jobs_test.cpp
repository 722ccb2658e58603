// The Simulator with a JobSource and a JobObserver.
#include <catch2/catch.hpp>
#include <vector>

#include "orb/sim/job_source.h"
#include "orb/sim/multicore_simulator.h"
#include "orb/sim/simulator.h"

namespace simulator_jobs_test {

using namespace corelane;
using namespace corelane::sim;
using namespace std::chrono_literals;

namespace {

sched::ManagerOptions one_core() {
  sched::ManagerOptions options;
  options.cores.push_back({.id = CoreId{0}, .capacity = sched::whole_core});
  return options;
}

Contract task_of(Duration budget, Duration period) { return {.period = period, .deadline = period, .budget = budget}; }

JobRelease job(Duration nominal, Duration delay, Duration demand) {
  return {.nominal = Time{nominal}, .delay = delay, .demand = demand};
}

struct Record final : JobObserver {
  void finished(const FinishedJob& done) override { jobs.push_back(done); }
  void executed(const ExecutedSlice& slice) override { slices.push_back(slice); }

  std::vector<FinishedJob> jobs;
  std::vector<ExecutedSlice> slices;
};

}  // namespace

TEST_CASE("the jobs of a source arrive at their times, with their demands") {
  ListedJobs source({{job(0ms, 0ms, 1ms), job(10ms, 0ms, 2ms), job(25ms, 0ms, 500us)}});
  Record record;
  Simulator sim(one_core());
  sim.use_jobs(source);
  sim.observe(record);
  sim.add({.contract = task_of(2ms, 10ms), .first_release = Time{100ms}});
  sim.run(Time{1s});
  REQUIRE(record.jobs.size() == 3);
  CHECK(record.jobs[1].number == 1);
  CHECK(record.jobs[1].release == Time{110ms});
  CHECK(record.jobs[1].start == Time{110ms});
  CHECK(record.jobs[1].finish == Time{112ms});
  CHECK(record.jobs[1].deadline == Time{120ms});
  CHECK(record.jobs[2].release == Time{125ms});
  CHECK(record.jobs[2].finish == Time{125'500us});
  CHECK(sim.report(0).jobs == 3);
}

TEST_CASE("a job that comes late counts from its nominal release") {
  ListedJobs source({{job(0ms, 3ms, 1ms)}});
  Record record;
  Simulator sim(one_core());
  sim.use_jobs(source);
  sim.observe(record);
  Contract contract = task_of(2ms, 10ms);
  contract.jitter = 3ms;
  sim.add({.contract = contract, .first_release = Time{10ms}});
  sim.run(Time{100ms});
  REQUIRE(record.jobs.size() == 1);
  CHECK(record.jobs[0].release == Time{10ms});
  CHECK(record.jobs[0].arrival == Time{13ms});
  CHECK(record.jobs[0].finish == Time{14ms});
  CHECK(sim.report(0).worst == 4ms);
}

TEST_CASE("a preempted job is seen in slices, and the slices sum to its demand") {
  ListedJobs source({{job(0ms, 0ms, 5ms)}, {job(1ms, 0ms, 2ms)}});
  Record record;
  Simulator sim(one_core());
  sim.use_jobs(source);
  sim.observe(record);
  sim.add({.contract = task_of(5ms, 50ms), .first_release = Time{10ms}});
  sim.add({.contract = task_of(2ms, 10ms), .first_release = Time{10ms}});
  sim.run(Time{60ms});
  REQUIRE(record.slices.size() == 3);
  CHECK(record.slices[0].task == 0);
  CHECK(record.slices[0].begin == Time{10ms});
  CHECK(record.slices[0].end == Time{11ms});
  CHECK(record.slices[1].task == 1);
  CHECK(record.slices[1].end == Time{13ms});
  CHECK(record.slices[2].task == 0);
  CHECK(record.slices[2].begin == Time{13ms});
  CHECK(record.slices[2].end == Time{17ms});
  REQUIRE(record.jobs.size() == 2);
  CHECK(record.jobs[1].start == Time{10ms});
}

TEST_CASE("platform load interrupts a slice, and is none itself") {
  auto options = one_core();
  options.cores[0].load = {.budget = 1ms, .period = 10ms};
  ListedJobs source({{job(8ms, 0ms, 4ms)}});
  Record record;
  Simulator sim(options);
  sim.use_jobs(source);
  sim.observe(record);
  sim.add({.contract = task_of(4ms, 50ms), .first_release = Time{20ms}});
  sim.run(Time{60ms});
  REQUIRE(record.slices.size() == 2);
  CHECK(record.slices[0].end == Time{30ms});
  CHECK(record.slices[1].begin == Time{31ms});
  REQUIRE(record.jobs.size() == 1);
  CHECK(record.jobs[0].finish == Time{33ms});
}

TEST_CASE("a cancelled job does not finish for the observer") {
  ListedJobs source({{job(0ms, 0ms, 8ms), job(20ms, 0ms, 1ms)}});
  Record record;
  Simulator sim(one_core());
  sim.use_jobs(source);
  sim.observe(record);
  Contract contract = task_of(2ms, 10ms);
  contract.on_overrun = OverrunPolicy::cancel;
  sim.add({.contract = contract, .first_release = Time{10ms}});
  sim.run(Time{100ms});
  REQUIRE(record.jobs.size() == 1);
  CHECK(record.jobs[0].number == 1);
  CHECK(sim.report(0).cancelled == 1);
}

}  // namespace simulator_jobs_test
