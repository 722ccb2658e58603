// The manager's request queue.
//   queue_push_pop          one thread pushes a job and pops it: the cost of both without contention
//   queue_push_pop_deep     the same with 500 jobs of mixed priorities in the queue
//   queue_contended/threads each thread pops and pushes in turn: the cost of the lock under contention
//   queue_full              the queue refuses a push
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "orb/dispatch/queue/request_queue.h"

namespace {

using namespace corelane;
using namespace corelane::dispatch;

class EmptyJob final : public Job {
 public:
  void run(const JobContext&) noexcept override {}
  void refuse(const sched::Refusal&) noexcept override {}
  void fail(Error) noexcept override {}
  void recycle() noexcept override {}  // its owner keeps it
};

void queue_push_pop(benchmark::State& state) {
  RequestQueue queue(1024);
  EmptyJob job;
  for (auto _ : state) {
    JobPtr pushed(&job);
    benchmark::DoNotOptimize(queue.push(pushed, Priority{7}));
    benchmark::DoNotOptimize(queue.pop().release());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(queue_push_pop);

void queue_push_pop_deep(benchmark::State& state) {
  std::vector<EmptyJob> jobs(500);
  RequestQueue queue(1024);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    JobPtr pushed(&jobs[i]);
    (void)queue.push(pushed, Priority{static_cast<std::int32_t>(i % 48)});
  }
  for (auto _ : state) {
    JobPtr popped = queue.pop();
    benchmark::DoNotOptimize(queue.push(popped, Priority{47}));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(queue_push_pop_deep);

RequestQueue& shared_queue() {
  static std::vector<EmptyJob> jobs(16);
  static RequestQueue queue(1024);
  static const bool filled = [] {
    for (EmptyJob& job : jobs) {
      JobPtr pushed(&job);
      (void)queue.push(pushed, Priority{7});
    }
    return true;
  }();
  (void)filled;
  return queue;
}

void queue_contended(benchmark::State& state) {
  RequestQueue& queue = shared_queue();
  for (auto _ : state) {
    JobPtr job = queue.pop();  // never empty: more jobs than threads
    benchmark::DoNotOptimize(queue.push(job, Priority{7}));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(queue_contended)->Threads(2)->Threads(4)->UseRealTime();

void queue_full(benchmark::State& state) {
  RequestQueue queue(0);
  EmptyJob job;
  JobPtr pushed(&job);
  for (auto _ : state) benchmark::DoNotOptimize(queue.push(pushed, Priority{7}));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(queue_full);

}  // namespace
