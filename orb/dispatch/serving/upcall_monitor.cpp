#include "orb/dispatch/serving/upcall_monitor.h"

#include <algorithm>
#include <new>
#include <utility>

#include "orb/os/clock.h"
#include "orb/os/threads/thread_barrier.h"

namespace corelane::dispatch {
namespace {

constexpr Duration longest_blind_sleep = std::chrono::milliseconds{10};  // if the system has no membarrier

}  // namespace

Expected<void> UpcallMonitor::start() { return thread_.start({.name = "cl-monitor"}); }

void UpcallMonitor::stop() noexcept { thread_.stop(); }

bool UpcallMonitor::step(Time) noexcept try {
  if (!can_order_) can_order_ = os::can_order_threads();  // also registers the process
  if (sleeps_) end_sleep();
  const bool busy = look();
  if (may_sleep()) return !begin_sleep();
  wake_at_ = os::now() + pause_after(busy);
  return false;
} catch (const std::bad_alloc&) {
  wake_at_ = os::now() + often;
  return false;
}

Duration UpcallMonitor::pause_after(bool busy) noexcept {
  if (busy) return patience_;
  return std::max(patience_, std::exchange(pause_, std::min(2 * pause_, seldom)));
}

bool UpcallMonitor::look() {
  before_.swap(seen_);
  seen_.clear();
  std::uint64_t ended = 0;
  for (const std::shared_ptr<Upcaller>& thread : upcallers()) {
    ended += thread->servants_ended();
    const Seen seen{.thread = thread.get(), .now = thread->now()};
    if (seen.now.upcall == Turn::no_upcall) continue;
    seen_.push_back(seen);
    if (std::find(before_.begin(), before_.end(), seen) == before_.end()) continue;
    thread->take_over(seen.now.upcall);
    pause_ = often;
  }
  const bool is_quiet = seen_.empty() && std::exchange(ended_, ended) == ended;
  quiet_ = is_quiet ? quiet_ + 1 : 0;
  return !seen_.empty();
}

// Lets the thread sleep until a servant begins. Returns false if one runs already. Either the barrier makes the start
// of a servant visible to the look after it, or the servant's thread sees asleep_ and wakes this one. seq_cst: together
// with the barrier, so that the threads that run servants need no barrier of their own.
bool UpcallMonitor::begin_sleep() {
  sleeps_ = true;
  asleep_.store(true, std::memory_order_seq_cst);
  if (*can_order_) os::order_threads();
  for (const std::shared_ptr<Upcaller>& thread : upcallers())
    if (thread->now().upcall != Turn::no_upcall) return false;
  wake_at_ = *can_order_ ? never : os::now() + longest_blind_sleep;
  return true;
}

void UpcallMonitor::end_sleep() noexcept {
  sleeps_ = false;
  asleep_.store(false, std::memory_order_relaxed);  // relaxed: a wake-up too many is harmless
  quiet_ = 0;
}

void UpcallMonitor::wake() noexcept {
  if (asleep_.exchange(false, std::memory_order_relaxed)) parker_.unpark();  // relaxed: the parker orders
}

}  // namespace corelane::dispatch
