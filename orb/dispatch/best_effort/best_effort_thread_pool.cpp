#include "orb/dispatch/best_effort/best_effort_thread_pool.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/dispatch/current.h"
#include "orb/os/clock.h"
#include "orb/os/lock.h"
#include "orb/os/log.h"

namespace corelane::dispatch {
namespace {

constexpr std::uint64_t one_waits = std::uint64_t{1} << 32;

std::size_t waiting_of(std::uint64_t load) noexcept { return load / one_waits; }
std::size_t beyond_of(std::uint64_t load) noexcept { return load % one_waits; }

void warn_if_memory(std::size_t number, std::string_view text) noexcept try {
  os::log::warn("best effort: " + std::to_string(number) + ' ' + std::string(text));
} catch (const std::bad_alloc&) {
}

void warn_of_shortage(std::size_t threads) noexcept try {
  os::log::warn("best effort: there are only " + std::to_string(threads) +
                " threads, so requests may have to wait for requests that wait in nested calls: " +
                std::string(minor::text(minor::no_thread)));
} catch (const std::bad_alloc&) {
}

}  // namespace

bool await_token(sem_t& semaphore, Time until) noexcept {
  if (until == never) {
    while (sem_wait(&semaphore) != 0 && errno == EINTR) continue;
    return true;
  }
  const auto since = until.time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
  const timespec at{.tv_sec = seconds.count(), .tv_nsec = (since - seconds).count()};
  int failed = 0;
  while ((failed = sem_clockwait(&semaphore, CLOCK_MONOTONIC, &at)) != 0 && errno == EINTR) continue;
  return failed == 0;
}

// One thread of the thread pool. If the system refuses a scheduling class, the thread stays under SCHED_OTHER and runs
// in the time that the tasks leave.
class BestEffortThreadPool::Member final : public os::ThreadGroup::Member, public ServedThread, public Suspendable {
 public:
  explicit Member(BestEffortThreadPool& pool) : pool_(pool) {}

  void set_native(int native) noexcept override { (void)thread().set_priority(native); }
  Duration cpu_time() const noexcept override { return thread().cpu_time(); }
  void suspend(WaitsFor) noexcept override { pool_.begin_wait(); }
  void resume(WaitsFor) noexcept override { pool_.end_wait(); }
  // Only half of the substitutes are for threads that wait for a peer. The other half is for threads in nested calls,
  // which may wait for each other.
  bool has_substitute() const noexcept override { return pool_.waiting() < pool_.size_.waiting / 2; }

 private:
  void live() noexcept override { pool_.live(*this); }

  BestEffortThreadPool& pool_;
};

BestEffortThreadPool::BestEffortThreadPool(ThreadPoolWork& work, const Size& size, std::optional<CoreId> core,
                                           AperiodicServer* server)
    : work_(work),
      size_(size),
      server_(server),
      threads_({.name = "cl-effort-",
                .core = core,
                .stack = size.stack,
                .lazy_stack = true,
                .stack_setting = "best_effort.stack"},
               size.running + size.waiting) {
  sem_init(&called_, 0, 0);
}

BestEffortThreadPool::~BestEffortThreadPool() {
  dismiss();
  join();
  sem_destroy(&called_);
}

Expected<void> BestEffortThreadPool::start() {
  if (server_) server_->expect(size_.running + size_.waiting);
  const std::size_t spare = size_.waiting > 0 ? 1 : 0;
  {
    const os::LockGuard lock(mutex_);
    for (std::size_t i = 0; i < size_.running + spare; ++i)
      if (auto made = make_member(); !made) return made;
  }
  for (std::size_t i = 0; i < size_.running; ++i) {
    spare_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: a count; the semaphore wakes
    sem_post(&called_);
  }
  return {};
}

// Creates a thread, unless there are as many as allowed.
Expected<void> BestEffortThreadPool::make_member() noexcept try {
  const auto started = threads_.start(std::make_shared<Member>(*this));
  if (!started) return started.error();
  if (*started) spare_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a count; the semaphore wakes
  return {};
} catch (const std::bad_alloc&) {
  return errors::no_memory;
}

void BestEffortThreadPool::dismiss() noexcept {
  const os::LockGuard lock(mutex_);
  // PAIR pool.dismissed: release here -> acquire in dismissed().
  if (dismissed_.exchange(true, std::memory_order_release)) return;
  for (std::size_t i = threads_.size(); i > 0; --i) sem_post(&called_);
}

bool BestEffortThreadPool::dismissed() const noexcept {
  // PAIR pool.dismissed: acquire here <- release in dismiss().
  return dismissed_.load(std::memory_order_acquire);
}

void BestEffortThreadPool::join() noexcept { threads_.join(); }

void BestEffortThreadPool::rebind() noexcept { threads_.rebind(); }

// Runs the thread. Bound: ends with dismiss(), or when the thread is not needed.
void BestEffortThreadPool::live(Member& self) noexcept {
  while (rest(self)) {
    keep_spare();
    work(self);
    spare_.fetch_add(1, std::memory_order_relaxed);  // relaxed: as in start()
  }
}

void BestEffortThreadPool::work(Member& self) noexcept {
  const SuspendableScope tells(self);
  if (server_) server_->add(self), server_->work();
  work_.take_jobs(*this);
  if (server_) server_->rest(), server_->remove(self);
}

// Waits as a spare thread until the thread is called. Returns false if the thread must end.
bool BestEffortThreadPool::rest(Member& self) noexcept {
  while (!dismissed()) {  // bound: `linger`, or until it is called
    if (sleep()) return !dismissed();
    if (may_end(self)) return false;
  }
  return false;
}

// Sleeps until the thread is called. Returns false if no call came for `linger`. The last spare thread sleeps
// without a limit.
bool BestEffortThreadPool::sleep() noexcept {
  // relaxed: a thread that sees too large a number looks again; at worst one of several threads stays for good
  const bool last = spare_.load(std::memory_order_relaxed) <= 1;
  return await_token(called_, last ? never : os::now() + size_.linger);
}

// Lets the thread end if there is another spare thread to which no call is on its way.
bool BestEffortThreadPool::may_end(Member& self) noexcept {
  const os::LockGuard lock(mutex_);                   // with it, keep_spare() sees the room that this thread leaves
  int left = spare_.load(std::memory_order_relaxed);  // relaxed: the exchange checks it
  do {                                                // bound: retries only if others came, went or were called
    if (left <= 1) return false;
  } while (!spare_.compare_exchange_weak(left, left - 1, std::memory_order_relaxed));
  threads_.leave(self);
  return true;
}

// Creates a thread if there is no spare thread. If that fails, the next spare thread that is activated tries again.
void BestEffortThreadPool::keep_spare() noexcept {
  {
    const os::LockGuard lock(mutex_);
    if (dismissed() || spare_.load(std::memory_order_relaxed) > 0) return;  // relaxed: as in start()
    const auto made = make_member();
    if (!made && !std::exchange(warned_, true)) warn_of_shortage(threads_.size());
  }
  threads_.join_ended();
}

bool BestEffortThreadPool::activate_spare() noexcept {
  std::uint64_t load = load_.load(std::memory_order_seq_cst);  // seq_cst: see begin_wait()
  // Bound: retries only if other threads waited, resumed or were called in between. relaxed: a count; the semaphore
  // wakes
  while (beyond_of(load) < std::min(waiting_of(load), size_.waiting)) {
    if (!load_.compare_exchange_weak(load, load + 1, std::memory_order_relaxed)) continue;
    spare_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: as in start()
    sem_post(&called_);
    return true;
  }
  return false;
}

bool BestEffortThreadPool::leave_if_surplus() noexcept {
  std::uint64_t load = load_.load(std::memory_order_relaxed);  // relaxed: the exchange checks it
  while (beyond_of(load) > waiting_of(load))                   // bound: as in activate_spare()
    if (load_.compare_exchange_weak(load, load - 1, std::memory_order_relaxed)) return true;
  return false;
}

Time BestEffortThreadPool::idle_until(Time now) const noexcept {
  // relaxed: threads at work beyond `running` were called before this thread ran out of work
  return beyond_of(load_.load(std::memory_order_relaxed)) > 0 ? now + size_.linger : never;
}

// Both sides write first and then read. So either the thread that submits a job sees the wait, or this function sees
// the job.
void BestEffortThreadPool::begin_wait() noexcept {
  const std::uint64_t load = load_.fetch_add(one_waits, std::memory_order_seq_cst) + one_waits;  // seq_cst: see above
  if (waiting_of(load) > size_.waiting) note_shortage();
  if (work_.has_unserved()) activate_spare();
}

void BestEffortThreadPool::end_wait() noexcept {
  load_.fetch_sub(one_waits, std::memory_order_relaxed);  // relaxed: a surplus thread finds out when it looks
}

void BestEffortThreadPool::note_shortage() noexcept {
  if (shortages_.fetch_add(1, std::memory_order_relaxed) > 0) return;  // relaxed: a count
  const os::PriorityScope ordinary = os::PriorityScope::ordinary();  // a server may have raised this thread's priority
  warn_if_memory(waiting(),
                 "requests without a contract wait in nested calls, more than best_effort.waiting. So fewer than "
                 "best_effort.threads threads serve other requests. If they wait for each other, timeout.request ends "
                 "that; raise best_effort.waiting");
}

std::size_t BestEffortThreadPool::waiting() const noexcept {
  return waiting_of(load_.load(std::memory_order_relaxed));  // relaxed: a report
}

}  // namespace corelane::dispatch
