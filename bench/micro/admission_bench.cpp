// The cost of one decision of the Manager beside N tasks that are already admitted, on M cores. Rows:
//
//   accept/N/M        a new task fits on the core with the most room
//   refuse_all/N/64   a task fits on none of 64 cores: each core is analyzed, and the closest one is found
//                     (no repacking)
//   repack/N/M        a task fits only after all tasks are packed anew: the decision up to the first Vacate
//   nearest/N/64      computes what would fit instead: off the critical path
//
// Periods are 10 to 100 ms. Times are of decide() alone; the departure that undoes it does not count.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "orb/sched/manager.h"

namespace {

using namespace corelane;
using namespace corelane::sched;
using namespace std::chrono_literals;

ManagerOptions cores_of(int count, bool repack) {
  ManagerOptions options;
  for (int i = 0; i < count; ++i) options.cores.push_back({.id = CoreId{static_cast<std::int16_t>(i)}});
  options.max_tasks = 4096;
  options.max_tasks_per_core = 1200;
  options.repack = repack;
  return options;
}

// Returns a contract with a utilization of about `ppm`, and one of seventy periods from 10 to 100.6 ms, or a period
// near 30 ms.
Contract contract_of(std::int64_t ppm, int i, bool alike = false) {
  const Duration period = (alike ? 3 : 1 + i % 10) * 10ms + (i % 7) * 100us;
  return {.period = period, .deadline = period, .budget = period * ppm / 1'000'000};
}

class Pool {
 public:
  Pool(int cores, bool repack) : manager(cores_of(cores, repack)) {}

  std::span<const Command> propose(const Contract& contract) {
    return manager.decide(Proposed{Time{}, JobId{++request_}, PeerId{}, contract});
  }
  // Adds `count` tasks that together use `ppm` of all cores.
  void fill(int count, int cores, std::int64_t ppm, bool alike = false) {
    for (int i = 0; i < count; ++i) propose(contract_of(ppm * cores / count, i, alike));
  }
  void undo(Admit admit) {
    manager.decide(Departed{Time{}, admit.task});
    manager.decide(Vacated{Time{}, admit.task, admit.core});
  }

  Manager manager;

 private:
  std::uint64_t request_ = 0;
};

template <typename Call>
auto timed(benchmark::State& state, Call&& call) {
  const auto start = std::chrono::steady_clock::now();
  auto result = call();
  state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return result;
}

void accept(benchmark::State& state) {
  const auto cores = static_cast<int>(state.range(1));
  Pool pool(cores, true);
  pool.fill(static_cast<int>(state.range(0)), cores, 500'000);
  for (auto _ : state) {
    const auto answer = timed(state, [&] { return pool.propose(contract_of(1'000, 3)); });
    const auto* admit = answer.empty() ? nullptr : std::get_if<Admit>(&answer.back());
    if (admit == nullptr) return state.SkipWithError("not admitted");
    pool.undo(*admit);
  }
}

void refuse_all(benchmark::State& state) {
  const auto cores = static_cast<int>(state.range(1));
  Pool pool(cores, false);
  pool.fill(static_cast<int>(state.range(0)), cores, 600'000, true);
  // The task's utilization would fit, but its deadline does not hold beside the other tasks.
  const Contract tight{.period = 100ms, .deadline = 25ms, .budget = 19'900us};
  for (auto _ : state) {
    const auto answer = timed(state, [&] { return pool.propose(tight); });
    if (answer.size() != 1 || !std::holds_alternative<Refuse>(answer[0])) return state.SkipWithError("not refused");
  }
}

// Small tasks fill all cores evenly. The new task needs more of one core than any has left, and gets it by repacking.
void repack(benchmark::State& state) {
  const auto count = static_cast<int>(state.range(0));
  const auto cores = static_cast<int>(state.range(1));
  for (auto _ : state) {
    state.PauseTiming();
    Pool pool(cores, true);
    pool.fill(count, cores, 600'000);
    state.ResumeTiming();
    const auto answer =
        timed(state, [&] { return pool.propose({.period = 100ms, .deadline = 100ms, .budget = 45ms}); });
    const bool moves =
        std::any_of(answer.begin(), answer.end(), [](const Command& c) { return std::holds_alternative<Vacate>(c); });
    if (!moves) return state.SkipWithError("nobody was moved");
  }
}

void nearest(benchmark::State& state) {
  const auto cores = static_cast<int>(state.range(1));
  Pool pool(cores, false);
  pool.fill(static_cast<int>(state.range(0)), cores, 600'000, true);
  const Contract tight{.period = 100ms, .deadline = 25ms, .budget = 19'900us};
  for (auto _ : state) benchmark::DoNotOptimize(timed(state, [&] { return pool.manager.nearest(tight); }));
}

BENCHMARK(accept)
    ->UseManualTime()
    ->ArgNames({"tasks", "cores"})
    ->Args({10, 2})
    ->Args({100, 16})
    ->Args({1000, 64})
    ->Args({1000, 16});
BENCHMARK(refuse_all)->UseManualTime()->ArgNames({"tasks", "cores"})->Args({64, 64})->Args({100, 64})->Args({1000, 64});
BENCHMARK(repack)
    ->UseManualTime()
    ->Iterations(50)
    ->ArgNames({"tasks", "cores"})
    ->Args({10, 2})
    ->Args({100, 16})
    ->Args({1000, 64});
BENCHMARK(nearest)->UseManualTime()->ArgNames({"tasks", "cores"})->Args({100, 64})->Args({1000, 64});

}  // namespace
