#include "orb/dispatch/cores/thread_server.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace corelane::dispatch {
namespace {

constexpr Duration shortest_server_look = std::chrono::microseconds{20};  // between two looks at what was used

}  // namespace

ThreadServer::ThreadServer(const sched::Server& server, int native, const Clock& clock, Work kind)
    : clock_(clock), native_(native), kind_(kind), driver_(server, Priority{native}) {}

void ThreadServer::expect(std::size_t threads) {
  const std::lock_guard lock(mutex_);
  threads_.reserve(threads);
}

void ThreadServer::add(ServedThread& thread) {
  const std::lock_guard lock(mutex_);
  if (dismissed_) return;
  thread.set_native(placed_);
  threads_.push_back({&thread, thread.cpu_time()});
}

void ThreadServer::remove(ServedThread& thread) noexcept {
  const std::lock_guard lock(mutex_);
  if (dismissed_) return;
  step();
  std::erase_if(threads_, [&](const Seat& seat) { return seat.thread == &thread; });
  thread.set_native(0);
}

void ThreadServer::watch(BudgetAlarm* alarm) noexcept {
  const std::lock_guard lock(mutex_);
  alarm_ = alarm;
  if (alarm_) step();
}

void ThreadServer::dismiss() noexcept {
  const std::lock_guard lock(mutex_);
  dismissed_ = true;
}

void ThreadServer::grant() noexcept {
  const std::lock_guard lock(mutex_);
  if (std::exchange(granted_, true)) return;
  step();
}

void ThreadServer::work(const sched::IoCaller& caller) noexcept {
  const std::lock_guard lock(mutex_);
  const bool known = working_++ > 0 && caller == caller_;
  caller_ = caller;
  if (!known) step();
}

void ThreadServer::rest() noexcept {
  const std::lock_guard lock(mutex_);
  if (--working_ == 0) step();
}

void ThreadServer::check() noexcept {
  const std::lock_guard lock(mutex_);
  step();
}

ServerStatus ThreadServer::status() const noexcept {
  const std::lock_guard lock(mutex_);
  return {.granted = granted_, .serves = placed_ > 0, .used = driver_.used(), .exhausted = exhausted_};
}

void ThreadServer::step() noexcept {
  if (!granted_ || dismissed_) return;
  const bool served = placed_ > 0;
  const Duration used = take_used();
  const Time now = clock_.now();
  const auto work = working_ > 0 ? std::optional(caller_) : std::nullopt;
  const Duration counts = served ? used : Duration::zero();
  const sched::ServerVerdict verdict =
      kind_ == Work::may_sleep ? driver_.step_unobserved(now, counts, work) : driver_.step(now, counts, work);
  const bool serves = work ? verdict.runs : may_begin(now);
  if (work && !serves && served) ++exhausted_;
  place(!serves ? 0 : work ? verdict.priority.value : native_);
  if (!alarm_) return;
  if (serves) return alarm_->set(work ? now + std::max(verdict.budget, shortest_server_look) : never);
  alarm_->set(work ? verdict.again : sched::next(driver_.server(), now));
}

// Returns whether work that comes now would have budget. An I/O server that has no caller yet has no budget to show,
// but may begin.
bool ThreadServer::may_begin(Time now) const noexcept {
  const sched::Server& server = driver_.server();
  return sched::available(server, now) > Duration::zero() || sched::next(server, now) <= now;
}

Duration ThreadServer::take_used() noexcept {
  Duration used{};
  for (Seat& seat : threads_) {
    const Duration total = seat.thread->cpu_time();  // zero once the thread has ended
    used += std::max(total - seat.used, Duration::zero());
    seat.used = total;
  }
  return used;
}

void ThreadServer::place(int native) noexcept {
  if (native == std::exchange(placed_, native)) return;
  for (const Seat& seat : threads_) seat.thread->set_native(native);
}

}  // namespace corelane::dispatch
