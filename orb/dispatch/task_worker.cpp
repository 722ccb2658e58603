#include "orb/dispatch/task_worker.h"

#include <mutex>
#include <utility>

#include "orb/dispatch/core_pool.h"

namespace corelane::dispatch {
namespace {

// relaxed: one writer, and readers need no order.
void increment(std::atomic<std::uint64_t>& counter) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace

TaskWorker::TaskWorker(TaskId task, const Contract& contract, CorePool& pool, const Clock& clock)
    : task_(task), contract_(contract), clock_(clock), pool_(&pool) {}

TaskWorker::~TaskWorker() = default;

bool TaskWorker::step(Time now) noexcept {
  // PAIR worker.pool: acquire here <- release in CorePool::put(). The pool's lock orders everything else.
  CorePool* const pool = pool_.load(std::memory_order_acquire);
  CorePool::Assignment next;
  wake_at_ = pool->take(*this, now, next);
  if (!next.job) return false;
  const Duration before = clock_.cpu_time();
  next.job->run(next.context);
  next.job->finish();
  const Time end = clock_.now();
  const Duration used = clock_.cpu_time() - before;
  next.job.reset();
  account(next.context, end, used);
  pool->finish(*this, next.context.job, end, used, used > contract_.budget);
  return true;
}

void TaskWorker::account(const JobContext& context, Time end, Duration used) noexcept {
  statistics_.response.record(end - context.release);
  if (end > context.deadline) {
    increment(statistics_.misses);
    statistics_.late.record(
        {.release = context.release, .deadline = context.deadline, .finished = end, .core = context.core});
  }
  if (used > contract_.budget) increment(statistics_.overruns);
}

void TaskWorker::loop() noexcept {
  // Bound: ends with retire(); the pool gives no new jobs to a task that has left.
  for (;;) {
    // PAIR worker.retired: acquire here <- release in retire(). Read before step(): a job made ready before still runs.
    const bool last = retired_.load(std::memory_order_acquire);
    if (step(clock_.now())) continue;
    if (last) return;
    parker_.park(wake_at_);
  }
}

void TaskWorker::retire() noexcept {
  // PAIR worker.retired: release here -> acquire in loop().
  retired_.store(true, std::memory_order_release);
  wake();
}

void TaskWorker::attach(WorkerThread* thread) noexcept {
  const std::lock_guard lock(seat_mutex_);
  thread_ = thread;
  if (thread_) thread_->place(seat_);  // it may have changed while the thread started
}

void TaskWorker::seat(Seat seat) noexcept {
  const std::lock_guard lock(seat_mutex_);
  const Seat before = std::exchange(seat_, seat);
  if (thread_ && (before.core != seat.core || before.native != seat.native)) thread_->place(seat);
}

Seat TaskWorker::seat() const noexcept {
  const std::lock_guard lock(seat_mutex_);
  return seat_;
}

}  // namespace corelane::dispatch
