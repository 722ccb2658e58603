#include "orb/dispatch/budgets/aperiodic_server.h"

#include <algorithm>
#include <utility>

#include "orb/os/lock.h"

namespace corelane::dispatch {
namespace {

constexpr Duration shortest_server_look = std::chrono::microseconds{20};  // between two looks at what was used

}  // namespace

AperiodicServer::AperiodicServer(const sched::Server& server, int native, const Clock& clock, Work kind)
    : clock_(clock), native_(native), kind_(kind), driver_(server, Priority{native}) {}

void AperiodicServer::expect(std::size_t threads) {
  const os::LockGuard lock(mutex_);
  threads_.reserve(threads);
}

void AperiodicServer::add(ServedThread& thread) {
  const os::LockGuard lock(mutex_);
  if (dismissed_) return;
  thread.set_native(placed_);
  threads_.push_back({&thread, thread.cpu_time()});
}

void AperiodicServer::remove(ServedThread& thread) noexcept {
  const os::LockGuard lock(mutex_);
  if (dismissed_) return;
  step();
  std::erase_if(threads_, [&](const Member& member) { return member.thread == &thread; });
  thread.set_native(0);
}

void AperiodicServer::watch(BudgetAlarm* alarm) noexcept {
  const os::LockGuard lock(mutex_);
  alarm_ = alarm;
  if (alarm_) step();
}

void AperiodicServer::dismiss() noexcept {
  const os::LockGuard lock(mutex_);
  dismissed_ = true;
}

void AperiodicServer::grant() noexcept {
  const os::LockGuard lock(mutex_);
  if (std::exchange(granted_, true)) return;
  step();
}

void AperiodicServer::work(const sched::IoCaller& caller) noexcept {
  const os::LockGuard lock(mutex_);
  const bool known = working_++ > 0 && caller == caller_;
  caller_ = caller;
  if (!known) step();
}

void AperiodicServer::rest() noexcept {
  const os::LockGuard lock(mutex_);
  if (--working_ == 0) step();
}

void AperiodicServer::check() noexcept {
  const os::LockGuard lock(mutex_);
  step();
}

ServerStatus AperiodicServer::status() const noexcept {
  const os::LockGuard lock(mutex_);
  return {.granted = granted_, .serves = placed_ > 0, .used = driver_.used(), .exhausted = exhausted_};
}

void AperiodicServer::step() noexcept {
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
bool AperiodicServer::may_begin(Time now) const noexcept {
  const sched::Server& server = driver_.server();
  return sched::available(server, now) > Duration::zero() || sched::next(server, now) <= now;
}

Duration AperiodicServer::take_used() noexcept {
  Duration used{};
  for (Member& member : threads_) {
    const Duration total = member.thread->cpu_time();  // zero once the thread has ended
    used += std::max(total - member.used, Duration::zero());
    member.used = total;
  }
  return used;
}

void AperiodicServer::place(int native) noexcept {
  if (native == std::exchange(placed_, native)) return;
  for (const Member& member : threads_) member.thread->set_native(native);
}

}  // namespace corelane::dispatch
