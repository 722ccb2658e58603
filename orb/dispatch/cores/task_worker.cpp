#include "orb/dispatch/cores/task_worker.h"

#include <unistd.h>

#include <mutex>
#include <utility>

#include "orb/base/errors.h"
#include "orb/dispatch/cores/core_pool.h"
#include "orb/dispatch/current.h"
#include "orb/dispatch/telemetry/counter.h"

namespace corelane::dispatch {

TaskWorker::TaskWorker(TaskId task, const Contract& contract, CorePool& pool, const Clock& clock,
                       CeilingsOfTask ceilings, os::WaitStrategy strategy)
    : task_(task),
      contract_(contract),
      clock_(clock),
      ceilings_(std::move(ceilings)),
      strategy_(strategy),
      receiver_(contract),
      blocks_(clock),
      pool_(&pool) {}

TaskWorker::~TaskWorker() = default;

struct TaskWorker::Assignment : CorePool::Assignment {};

bool TaskWorker::step(Time now) noexcept {
  // PAIR worker.pool: acquire here <- release in CorePool::receive(). The pool's lock orders everything else.
  CorePool* const pool = pool_.load(std::memory_order_acquire);
  Assignment next;
  if (pool->order() == sched::CoreOrder::served) take_share();
  pool->may_read_own() ? receiver_.take_back() : receiver_.lend();
  rests_ = false;
  wake_at_ = pool->take(*this, now, next);
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
      return true;
    case CorePool::Own::elsewhere:
      return false;
    case CorePool::Own::refused:
      break;
  }
  pending_job_->refuse(reason);
  pending_job_.reset();
  note_refused(reason.code);
  charge_reading(JobSource::Found::bytes, now);
  return true;
}

// A request that arrives while its task is leaving is refused, but not counted as misbehavior.
void TaskWorker::note_refused(sched::RefusalCode why) noexcept {
  statistics_.refused.fetch_add(1, std::memory_order_relaxed);  // relaxed: a count
  if (events_ && why == sched::RefusalCode::job_waiting) events_->note_refused(task_);
}

// A job is charged only for reading the bytes of its own request.
void TaskWorker::charge_reading(JobSource::Found found, Time now) noexcept {
  if (found != JobSource::Found::piece && found != JobSource::Found::bytes) return;
  const Duration before = charged_from();
  const bool in_vain = found == JobSource::Found::bytes;
  const Duration used = (in_vain ? begin_charge() : clock_.cpu_time()) - before;
  const Duration reading = used - std::min(used, spun_);
  if (!in_vain) return receiver_.read_piece(now, reading);
  spun_ = {};
  receiver_.wasted(now, reading);
}

Duration TaskWorker::charged_from() noexcept {
  const Duration before = used_before_.load(std::memory_order_relaxed);  // relaxed: this thread writes it
  return before == unknown ? begin_charge() : before;
}

// Begins a charge: what the thread uses from here on belongs to its next job.
Duration TaskWorker::begin_charge() noexcept {
  const Duration used = clock_.cpu_time();
  used_before_.store(used, std::memory_order_relaxed);  // relaxed: the pool's lock orders it for used_by_job()
  return used;
}

Duration TaskWorker::used_by_job() const noexcept {
  // relaxed: see begin_charge(), and the clock is set before the first job
  const Duration before = used_before_.load(std::memory_order_relaxed);
  const Duration now = clock_.cpu_time_of(cpu_clock_.load(std::memory_order_relaxed));  // relaxed: as above
  return before == unknown || now < before ? Duration::zero() : now - before;
}

bool TaskWorker::is_asleep() const noexcept {
  return clock_.is_asleep(tid_.load(std::memory_order_relaxed));  // relaxed: as the clock
}

// Runs a job. Its execution time counts from the end of the job before: waking up and reading the request are part of
// it.
void TaskWorker::run(Assignment& next, Time begun) noexcept {
  const Duration before = charged_from();
  current_ = next.context.job;
  slept_ = {};
  {
    const CurrentJob current{next.context, &stop_, this};
    const CurrentScope scope(current);
    next.job->run(next.context);
  }
  next.job->finish();
  const Time end = clock_.now();
  const Duration used = begin_charge() - before;
  receiver_.ran(used);
  spun_ = {};
  account(next.context, end, used);
  const Duration waited = blocks_.end(end - begun - used - slept_);
  if (waited > Duration::zero()) increment(statistics_.blocks);
  if (blocks_.has_asked()) begin_charge();  // it is in no budget
  wake_at_ = CorePool::finish(*this, {.at = end,
                                      .job = next.context.job,
                                      .used = used,
                                      .overslept = has_overslept() ? slept_ : Duration::zero(),
                                      .waited = waited});
  rests_ = wake_at_ > end && !pending_job_ && receiver_.drained();
  // PAIR worker.pool: as in step(). On a core by deadlines no thread spins: it would run above others for nothing.
  spins_ = pool_.load(std::memory_order_acquire)->order() == sched::CoreOrder::priority;
}

void TaskWorker::account(const JobContext& context, Time end, Duration used) noexcept {
  statistics_.response.record(end - context.release);
  if (end > context.deadline) {
    increment(statistics_.misses);
    statistics_.late.record(
        {.release = context.release, .deadline = context.deadline, .finished = end, .core = context.core});
    tell(TaskEventKind::miss, context, end, used);
  }
  if (used > contract_.budget) {
    increment(statistics_.overruns);
    tell(TaskEventKind::overrun, context, end, used);
  }
  if (has_overslept()) {
    increment(statistics_.oversleeps);
    tell(TaskEventKind::oversleep, context, end, used);
  }
}

void TaskWorker::tell(TaskEventKind kind, const JobContext& context, Time end, Duration used) noexcept {
  if (!events_) return;
  events_->post({.kind = kind,
                 .task = task_,
                 .job = context.job,
                 .core = context.core,
                 .release = context.release,
                 .deadline = context.deadline,
                 .finished = end,
                 .used = used,
                 .suspended = slept_});
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

// Returns the index of the resource in the contract; max_uses: the contract does not name it.
std::size_t TaskWorker::use_index(ResourceId resource) const noexcept {
  std::size_t i = 0;
  while (i < max_uses && (contract_.uses[i].resource != resource || resource == no_resource)) ++i;
  return i;
}

bool TaskWorker::enter(ResourceId resource) noexcept {
  const std::size_t i = use_index(resource);
  if (i == max_uses) return increment(statistics_.undeclared_locks), false;
  const std::lock_guard lock(placement_mutex_);
  ++held_[i];
  place();
  return true;
}

void TaskWorker::leave(ResourceId resource) noexcept {
  const std::lock_guard lock(placement_mutex_);
  --held_[use_index(resource)];
  place();
}

void TaskWorker::refresh_ceilings() noexcept {
  const std::lock_guard lock(placement_mutex_);
  place();
}

// A demoted job first ends its critical sections, at their ceilings.
int TaskWorker::native() const noexcept {
  int level = demoted_.load(std::memory_order_relaxed) ? 0 : placement_.native;  // relaxed: see is_served()
  for (std::size_t i = 0; i < max_uses; ++i)
    if (held_[i] > 0)
      level = std::max(level, ceilings_[i]->native.load(std::memory_order_relaxed));  // relaxed: see set()
  return level;
}

void TaskWorker::loop() noexcept {
  tid_.store(gettid(), std::memory_order_relaxed);                              // relaxed: as the clock
  cpu_clock_.store(os::cpu_clock_of_this_thread(), std::memory_order_relaxed);  // relaxed: see begin_charge()
  begin_charge();
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
    if (strategy.mode != os::WaitMode::park) spun_ = strategy.spin;
    return wait_by(strategy, now);
  }
  // Spinning without an end is in no budget, neither now nor when the next job is there.
  used_before_.store(unknown, std::memory_order_relaxed);  // relaxed: see begin_charge()
  wait_by(strategy, now);
  begin_charge();
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

void TaskWorker::attach(WorkerThread* thread) noexcept {
  const std::lock_guard lock(placement_mutex_);
  thread_ = thread;
  place();  // its placement may have changed while it started
}

void TaskWorker::place() noexcept {
  const os::DeadlineShare share = is_served() ? placement_.share : os::DeadlineShare{};
  placed_at_ = native();
  if (thread_) misplaced_ = !thread_->place({.core = placement_.core, .native = placed_at_, .share = share});
}

// Asks again for a share that was refused. The kernel judges by the core where the thread ran last. So a thread that
// comes from another core asks here, on the new core. A thread that lost its share asks whenever it wakes.
void TaskWorker::take_share() noexcept {
  const std::lock_guard lock(placement_mutex_);
  if (misplaced_ && is_served()) place();
}

// A thread that changes either mark calls settle() afterwards. So the last one to place the worker's thread sees both.
bool TaskWorker::is_served() const noexcept {
  // relaxed: no other data depends on the marks
  return !demoted_.load(std::memory_order_relaxed) && !stepped_back_.load(std::memory_order_relaxed);
}

void TaskWorker::demote() noexcept { demoted_.store(true, std::memory_order_relaxed); }  // relaxed: see is_served()

bool TaskWorker::promote() noexcept {
  return demoted_.exchange(false, std::memory_order_relaxed);  // relaxed: see is_served()
}

void TaskWorker::step_back() noexcept {
  stepped_back_.store(true, std::memory_order_relaxed);  // relaxed: see is_served()
}

bool TaskWorker::restore() noexcept {
  const bool was_demoted = promote();
  const bool was_back = stepped_back_.exchange(false, std::memory_order_relaxed);  // relaxed: see is_served()
  return was_demoted || was_back;
}

void TaskWorker::settle() noexcept {
  const std::lock_guard lock(placement_mutex_);
  place();
}

void TaskWorker::rebind() noexcept {
  const std::lock_guard lock(placement_mutex_);
  if (thread_) thread_->rebind();
}

void TaskWorker::placement(ThreadPlacement placement) noexcept {
  const std::lock_guard lock(placement_mutex_);
  const ThreadPlacement before = std::exchange(placement_, placement);
  if (before != placement) place();
}

void TaskWorker::set_level(int native) noexcept {
  const std::lock_guard lock(placement_mutex_);
  if (std::exchange(placement_.native, native) != native) place();
}

bool TaskWorker::raise_level(int native) noexcept {
  const std::lock_guard lock(placement_mutex_);
  placement_.native = native;
  const int level = this->native();
  if (level < placed_at_) return false;
  if (level > placed_at_) place();
  return true;
}

ThreadPlacement TaskWorker::granted_placement() const noexcept {
  const std::lock_guard lock(placement_mutex_);
  ThreadPlacement placement = placement_;
  if (!thread_ || !thread_->real_time() || placement.share != os::DeadlineShare{}) placement.native = 0;
  return placement;
}

ThreadPlacement TaskWorker::placement() const noexcept {
  const std::lock_guard lock(placement_mutex_);
  return placement_;
}

}  // namespace corelane::dispatch
