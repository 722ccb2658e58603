#include "orb/dispatch/cores/task_worker.h"

#include <unistd.h>

#include <utility>

#include "orb/base/errors.h"
#include "orb/dispatch/cores/core_pool.h"
#include "orb/dispatch/current.h"

namespace corelane::dispatch {

TaskWorker::TaskWorker(TaskId task, const Contract& contract, CorePool& pool, const Clock& clock,
                       CeilingsOfTask ceilings, os::WaitStrategy strategy)
    : task_(task),
      contract_(contract),
      clock_(clock),
      strategy_(strategy),
      receiver_(contract),
      blocks_(clock),
      charge_(clock),
      account_(task, contract_),
      placer_(contract_, std::move(ceilings)),
      pool_(&pool) {}

struct TaskWorker::Assignment : CorePool::Assignment {};

// Returns whether wake() was called since the last time. Call it before the pool is read: a thread that moves the task
// rings after it has set the pool. A load and a store instead of the exchange could miss that ring.
bool TaskWorker::has_rung() noexcept {
  // relaxed: the exchange orders. PAIR worker.rung: acquire here <- release in wake().
  return rung_.load(std::memory_order_relaxed) && rung_.exchange(false, std::memory_order_acquire);
}

bool TaskWorker::step(Time now) noexcept {
  const bool rung = has_rung();
  // PAIR worker.pool: acquire here <- release in CorePool::move(). The pool's lock orders everything else.
  CorePool* const pool = pool_.load(std::memory_order_acquire);
  Assignment next;
  if (pool->order() == sched::CoreOrder::served) placer_.take_share();
  pool->may_read_own() ? receiver_.take_back() : receiver_.lend();
  rests_ = false;
  if (rung || wake_at_ != never) wake_at_ = pool->take(*this, now, next);
  const bool busy = next.job || read(*pool, now, next);
  if (next.job) run(next, now);
  return busy;
}

// Reads the task's own connection, and gives its job to the core scheduler, on the task's thread.
bool TaskWorker::read(CorePool& pool, Time now, Assignment& next) noexcept {
  if (!pending_job_) {
    const auto found = receiver_.read(pending_job_, now);
    if (found != JobSource::Found::job) return charge_reading(found, now), found != JobSource::Found::nothing;
  }
  sched::Refusal reason;
  const Time arrived = arrival_of(pending_job_->arrived, now, clock_);
  switch (pool.arrive_own(*this, pending_job_, arrived, now, next, reason)) {
    case CorePool::Own::taken:
      if (!next.job) wake_at_ = Time{};  // it waits: ask the pool until when
      return true;
    case CorePool::Own::elsewhere:
      return false;
    case CorePool::Own::refused:
      break;
  }
  wake_at_ = Time{};  // its arrival may have released the job before it: ask the pool
  pending_job_->refuse(reason);
  pending_job_.reset();
  note_refused(reason.code);
  charge_reading(JobSource::Found::bytes, now);
  return true;
}

// A job is charged only for reading the bytes of its own request.
void TaskWorker::charge_reading(JobSource::Found found, Time now) noexcept {
  if (found != JobSource::Found::piece && found != JobSource::Found::bytes) return;
  const Duration before = charge_.begun();
  const bool in_vain = found == JobSource::Found::bytes;
  const Duration used = (in_vain ? charge_.begin() : charge_.thread_time()) - before;
  const Duration reading = charge_.without_spinning(used);
  if (!in_vain) return receiver_.read_piece(now, reading);
  charge_.forget_spinning();
  receiver_.wasted(now, reading);
}

bool TaskWorker::is_asleep() const noexcept {
  return clock_.is_asleep(tid_.load(std::memory_order_relaxed));  // relaxed: set before the first job
}

// Runs a job. Its execution time counts from the end of the job before: waking up and reading the request are part of
// it.
void TaskWorker::run(Assignment& next, Time begun) noexcept {
  const Duration before = charge_.begun();
  current_ = next.context.job;
  slept_ = {};
  {
    const CurrentJob current{next.context, &stop_, this};
    const CurrentScope scope(current);
    next.job->run(next.context);
  }
  next.job->finish();
  const Time end = clock_.now();
  const Duration used = charge_.begin() - before;
  receiver_.ran(used);
  charge_.forget_spinning();
  account_.add(next.context, {.at = end, .used = used, .slept = slept_});
  const Duration waited = blocks_.end(end - begun - used - slept_);
  if (waited > Duration::zero()) account_.note_block();
  if (blocks_.has_asked()) charge_.begin();  // it is in no budget
  wake_at_ = CorePool::finish(*this, {.at = end,
                                      .job = next.context.job,
                                      .used = used,
                                      .overslept = account_.has_overslept(slept_) ? slept_ : Duration::zero(),
                                      .waited = waited});
  rests_ = wake_at_ > end && !pending_job_ && receiver_.drained();
  // PAIR worker.pool: as in step(). On a core by deadlines no thread spins: it would run above others for nothing.
  spins_ = pool_.load(std::memory_order_acquire)->order() == sched::CoreOrder::priority;
}

void TaskWorker::suspend(WaitsFor) noexcept {
  suspended_at_ = clock_.now();
  CorePool::suspend(*this, current_, suspended_at_);
}

void TaskWorker::resume(WaitsFor) noexcept {
  const Time now = clock_.now();
  slept_ += now - suspended_at_;
  CorePool::resume(*this, current_, now);
}

std::size_t TaskWorker::waiting_jobs() const noexcept { return CorePool::waiting_jobs(*this); }

bool TaskWorker::enter(ResourceId resource) noexcept {
  if (placer_.enter(resource)) return true;
  account_.note_undeclared_lock();
  return false;
}

void TaskWorker::leave(ResourceId resource) noexcept { placer_.leave(resource); }

void TaskWorker::loop() noexcept {
  tid_.store(gettid(), std::memory_order_relaxed);  // relaxed: see is_asleep()
  charge_.start();
  // Bound: ends with retire(); the pool gives no new jobs to a task that has left.
  for (;;) {
    // PAIR worker.retired: acquire here <- release in retire(). Read before step(): a job made ready before still runs.
    const bool last = retired_.load(std::memory_order_acquire);
    const Time now = clock_.now();
    const bool busy = step(now);
    if (busy && (last || !rests_)) continue;  // if it rests, another step would find nothing
    if (last) break;
    wait(now);
  }
  receiver_.close();
  if (const JobPtr job = std::move(pending_job_)) job->fail(errors::task_gone);
}

void TaskWorker::wait(Time now) noexcept {
  const os::WaitStrategy strategy = std::exchange(spins_, false) ? strategy_ : os::WaitStrategy{};
  if (strategy.mode != os::WaitMode::spin) {
    if (strategy.mode != os::WaitMode::park) charge_.note_spinning(strategy.spin);
    return wait_by(strategy, now);
  }
  // Spinning without an end is in no budget, neither now nor when the next job is there.
  charge_.stop();
  wait_by(strategy, now);
  charge_.begin();
}

void TaskWorker::wait_by(os::WaitStrategy strategy, Time now) noexcept {
  const int fd = pending_job_ ? -1 : receiver_.descriptor(now);
  if (fd < 0) return bell_.wait(wake_at(now), strategy);
  if (bell_.open()) return bell_.wait_beside(fd, wake_at(now), strategy);
  receiver_.drop();  // no descriptor is left for the bell: the client uses its shared connection
}

void TaskWorker::retire() noexcept {
  // PAIR worker.retired: release here -> acquire in loop().
  retired_.store(true, std::memory_order_release);
  wake();
}

bool TaskWorker::give(const std::shared_ptr<JobSource>& source) noexcept {
  if (!receiver_.give(source)) return false;
  wake();
  return true;
}

}  // namespace corelane::dispatch
