// The speed of the MulticoreSimulator. Each iteration simulates one second. Rows:
//
//   simulate/tasks:T/cores:C/cluster:K/order:O   items_per_second is the number of jobs that ended per second of
//                                                processor time
//
// K is 1 for partitioned scheduling and C for global scheduling. O is 0 for fixed priorities and 1 for
// earliest deadline first. The tasks use 70 % of the cores; periods are 10 to 100 ms. Setting up the simulator does not
// count.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "orb/sim/multicore_simulator.h"

namespace {

using namespace corelane;
using namespace corelane::sim;
using namespace std::chrono_literals;

struct Workload {
  std::vector<MulticoreTask> tasks;
  std::vector<JobPattern> patterns;
};

// The periods are distinct. The shorter the period, the higher the priority.
Workload workload_of(std::int64_t tasks, std::int64_t cores) {
  Workload workload;
  for (std::int64_t i = 0; i < tasks; ++i) {
    const Duration period = 10ms + Duration{90ms} * i / tasks;
    workload.tasks.push_back({.deadline = period,
                              .priority = Priority{static_cast<std::int32_t>(tasks - i)},
                              .core = CoreId{static_cast<std::int16_t>(i % cores)}});
    workload.patterns.push_back({.period = period, .demand = period * cores * 7 / (tasks * 10)});
  }
  return workload;
}

void simulate(benchmark::State& state) {
  const Workload workload = workload_of(state.range(0), state.range(1));
  const MulticoreOptions options{.cores = static_cast<std::int32_t>(state.range(1)),
                                 .cluster = static_cast<std::int32_t>(state.range(2)),
                                 .order = state.range(3) == 0 ? Order::priority : Order::deadline};
  std::uint64_t jobs = 0;
  for (auto _ : state) {
    state.PauseTiming();
    PatternJobs source(workload.patterns);
    MulticoreSimulator simulator(options, workload.tasks, source);
    state.ResumeTiming();
    simulator.run(Time{1s});
    benchmark::DoNotOptimize(simulator.trace_hash());
    jobs += simulator.finished_jobs();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(jobs));
}

BENCHMARK(simulate)
    ->ArgNames({"tasks", "cores", "cluster", "order"})
    ->ArgsProduct({{20}, {4}, {1, 4}, {0, 1}})
    ->ArgsProduct({{1000}, {100}, {1, 100}, {0, 1}})
    ->ArgsProduct({{100'000}, {1000}, {1, 1000}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
