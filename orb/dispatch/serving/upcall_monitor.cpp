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

Expected<void> UpcallMonitor::start() {
  auto thread = os::start_thread({.name = "cl-monitor"}, [this] { run(); });
  if (!thread) return thread.error();
  thread_ = std::move(*thread);
  return {};
}

void UpcallMonitor::stop() noexcept {
  // PAIR monitor.stopped: release here -> acquire in run().
  stopped_.store(true, std::memory_order_release);
  parker_.unpark();
  thread_.join();
}

void UpcallMonitor::run() noexcept {
  const bool can_order = os::can_order_threads();  // also registers the process
  // PAIR monitor.stopped: acquire here <- release in stop().
  while (!stopped_.load(std::memory_order_acquire)) try {
      const bool busy = look();
      may_sleep() ? sleep(can_order) : (void)parker_.park(os::now() + pause_after(busy));
    } catch (const std::bad_alloc&) {
      (void)parker_.park(os::now() + often);
    }
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

// Either the barrier makes the start of a servant visible to the look after it, or the servant's thread sees asleep_
// and wakes this one. seq_cst: together with the barrier, so that the threads that run servants need no barrier of
// their own.
void UpcallMonitor::sleep(bool can_order) noexcept {
  asleep_.store(true, std::memory_order_seq_cst);
  if (can_order) os::order_threads();
  bool busy = false;
  for (const std::shared_ptr<Upcaller>& thread : upcallers()) busy = busy || thread->now().upcall != Turn::no_upcall;
  if (!busy) (void)parker_.park(can_order ? never : os::now() + longest_blind_sleep);
  asleep_.store(false, std::memory_order_relaxed);  // relaxed: a wake-up too many is harmless
  quiet_ = 0;
}

void UpcallMonitor::wake() noexcept {
  if (asleep_.exchange(false, std::memory_order_relaxed)) parker_.unpark();  // relaxed: the parker orders
}

}  // namespace corelane::dispatch
