// The recorder's cost, on one thread with warm caches:
//   record_one           one record of one slot (Finished) into a ring of the default size, published
//   record_three         one of three slots (Proposed with its contract)
//   job_in_scheduler          a CoreScheduler handles Arrived, then Finished, and answers Run: nothing is recorded
//   job_in_recorded_scheduler the same with its ring: four records or more; the difference is its price for a job
#include <benchmark/benchmark.h>

#include <chrono>

#include "orb/dispatch/recorder_options.h"
#include "orb/dispatch/telemetry/recorded_scheduler.h"

namespace {

using namespace corelane;
using namespace corelane::dispatch;
using namespace std::chrono_literals;

constexpr Contract contract{.period = 1ms, .deadline = 1ms, .budget = 100us};

void record_one(benchmark::State& state) {
  RecorderRing ring(RecorderOptions{}.size);
  std::uint64_t job = 0;
  for (auto _ : state) {
    ring.add(sched::Finished{.at = Time{1s}, .job = JobId{++job}, .task = TaskId{1}, .used = 1us}, {});
    ring.publish();
  }
}
BENCHMARK(record_one);

void record_three(benchmark::State& state) {
  RecorderRing ring(RecorderOptions{}.size);
  for (auto _ : state) {
    ring.add(sched::Proposed{.at = Time{1s}, .request = JobId{1}, .contract = contract}, {});
    ring.publish();
  }
}
BENCHMARK(record_three);

void run_jobs(benchmark::State& state, RecorderRing* ring) {
  RecordedScheduler scheduler(CoreId{0}, 16, TimerId{0}, ring);
  scheduler.add(TaskId{1}, contract, Priority{1});
  Time now{1s};
  std::uint64_t job = 0;
  for (auto _ : state) {
    now += 1ms;
    benchmark::DoNotOptimize(
        scheduler.decide(sched::Arrived{.at = now, .job = JobId{++job}, .task = TaskId{1}}).size());
    benchmark::DoNotOptimize(
        scheduler.decide(sched::Finished{.at = now + 10us, .job = JobId{job}, .task = TaskId{1}}).size());
  }
}

void job_in_scheduler(benchmark::State& state) { run_jobs(state, nullptr); }
BENCHMARK(job_in_scheduler);

void job_in_recorded_scheduler(benchmark::State& state) {
  RecorderRing ring(RecorderOptions{}.size);
  run_jobs(state, &ring);
}
BENCHMARK(job_in_recorded_scheduler);

}  // namespace
