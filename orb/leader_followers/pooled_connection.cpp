#include "orb/leader_followers/pooled_connection.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <new>
#include <thread>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/base/thread_safety.h"
#include "orb/os/clock.h"
#include "orb/os/lock.h"
#include "orb/os/pi_mutex.h"

namespace corelane::leader_followers {
namespace {

constexpr std::size_t read_size = 64 * 1024;
constexpr int reads_per_turn = 4;  // then other streams are read

}  // namespace

// Watch is the state of one watch() call. It says whether the watcher may still be called, and lets unwatch() wait for
// a running call.
class PooledConnection::Watch final : public ReadyHandler {
 public:
  Watch(std::shared_ptr<PooledConnection> connection, std::shared_ptr<transport::Watcher> watcher)
      : connection_(std::move(connection)), watcher_(std::move(watcher)) {}

  bool on_ready() noexcept override {
    if (!enter()) return false;
    connection_->read(*this);
    return leave();
  }
  void on_stopping() noexcept override { connection_->finish(*this, transport::ended_by(minor::shutting_down)); }

  // Returns the watcher while it may be called.
  std::shared_ptr<transport::Watcher> watcher() {
    const os::LockGuard lock(mutex_);
    return watcher_;
  }
  // Returns the watcher for its last call, once.
  std::shared_ptr<transport::Watcher> end() {
    const os::LockGuard lock(mutex_);
    return std::exchange(watcher_, nullptr);
  }
  // Does the same if no thread is in a call and `is_idle` returns true; no call begins before `is_idle` has returned.
  template <typename IsIdle>
  std::shared_ptr<transport::Watcher> end_if(IsIdle&& is_idle) {
    const os::LockGuard lock(mutex_);
    const bool ends = watcher_ && inside_ == std::thread::id{} && is_idle(*watcher_);
    return ends ? std::exchange(watcher_, nullptr) : nullptr;
  }
  // Ends the watch and waits: when it returns, no call runs, except one that this thread is in.
  void end_and_wait() {
    std::shared_ptr<transport::Watcher> dropped;  // destroyed after the lock is released
    os::UniqueLock lock(mutex_);
    dropped = std::exchange(watcher_, nullptr);
    if (inside_ != std::this_thread::get_id())
      left_.wait(lock, [this]() CORELANE_REQUIRES(mutex_) { return inside_ == std::thread::id{}; });
  }

 private:
  bool enter() {
    const os::LockGuard lock(mutex_);
    if (watcher_) inside_ = std::this_thread::get_id();
    return watcher_ != nullptr;
  }
  // Returns whether the pool shall call again.
  bool leave() {
    const os::LockGuard lock(mutex_);
    inside_ = {};
    left_.notify_all();
    return watcher_ != nullptr;
  }

  const std::shared_ptr<PooledConnection> connection_;  // keeps a watched connection alive until its end

  os::PiMutex mutex_;
  std::condition_variable_any left_;
  std::shared_ptr<transport::Watcher> watcher_ CORELANE_GUARDED_BY(mutex_);
  std::thread::id inside_ CORELANE_GUARDED_BY(mutex_);  // the thread that is in a call
};

PooledConnection::PooledConnection(std::shared_ptr<transport::Connection> below, std::shared_ptr<ThreadPool> pool,
                                   transport::Reactor& reactor, const transport::ConnectionLimits& limits)
    : below_(std::move(below)),
      pool_(std::move(pool)),
      reactor_(reactor),
      idle_timeout_(limits.idle_timeout),
      farewell_(limits.farewell),
      last_traffic_(os::now()) {}

void PooledConnection::renew() noexcept {
  // relaxed: a time stamp for the idle time-out; no other data depend on it
  if (idle_timeout_ > Duration::zero()) last_traffic_.store(os::now(), std::memory_order_relaxed);
}

Expected<void> PooledConnection::send(std::span<const Bytes> parts) noexcept {
  renew();
  return below_->send(parts);
}

Expected<void> PooledConnection::send_by(Time until, std::span<const Bytes> parts, std::uint64_t& position) noexcept {
  renew();
  return below_->send_by(until, parts, position);
}

Expected<void> PooledConnection::send_if_room(Time rest_until, std::span<const Bytes> parts,
                                              std::uint64_t& position) noexcept {
  renew();
  return below_->send_if_room(rest_until, parts, position);
}

void PooledConnection::watch(std::shared_ptr<transport::Watcher> watcher) {
  const auto watch = std::make_shared<Watch>(shared_from_this(), std::move(watcher));
  // relaxed: see renew()
  last_traffic_.store(os::now(), std::memory_order_relaxed);
  {
    const os::LockGuard lock(mutex_);
    watch_ = watch;
  }
  keep_time();
  arm_descriptor();  // another thread may have received since the pool read
  const auto added = pool_->add(descriptor(), watch);
  if (added) return;
  if (!farewell_.empty()) (void)below_->send(farewell_);  // no request of the peer ran; the farewell may not arrive
  below_->close();
  finish(*watch, added.error());
}

void PooledConnection::unwatch() {
  std::shared_ptr<Watch> watch;
  {
    const os::LockGuard lock(mutex_);
    watch = std::exchange(watch_, nullptr);
  }
  if (!watch) return;
  pool_->remove(descriptor());
  watch->end_and_wait();
}

void PooledConnection::pause_reading() noexcept {
  std::shared_ptr<Watch> watch;
  {
    const os::LockGuard lock(mutex_);
    watch = watch_;
  }
  auto watcher = watch ? watch->watcher() : nullptr;
  unwatch();
  bool asks = false;
  {
    const os::LockGuard lock(mutex_);
    paused_ = std::move(watcher);
    asks = !std::exchange(monitors_, true);
  }
  try {
    if (asks) below_->set_monitor(weak_from_this());
  } catch (const std::bad_alloc&) {
    // No memory: the end is noticed when reading goes on.
  }
  on_peer_end();  // in case it came before
}

// If nothing is left to be read, resumes reading, which finds the end. While paused_ is set, no thread of the pool
// reads. The lock keeps it set until has_unread() has looked.
void PooledConnection::on_peer_end() noexcept {
  const PeerEnd end = peer_end();
  if (end == PeerEnd::none) return;
  std::shared_ptr<transport::Watcher> watcher;
  bool may_read = false;
  {
    const os::LockGuard lock(mutex_);
    if (!paused_) return;
    may_read = !has_unread();
    watcher = may_read ? std::move(paused_) : paused_;
  }
  if (may_read) return read_on(std::move(watcher));
  if (end == PeerEnd::both_directions) watcher->on_peer_gone();
}

void PooledConnection::resume_reading() noexcept {
  std::shared_ptr<transport::Watcher> watcher;
  {
    const os::LockGuard lock(mutex_);
    watcher = std::move(paused_);
  }
  if (watcher) read_on(std::move(watcher));
}

void PooledConnection::read_on(std::shared_ptr<transport::Watcher> watcher) noexcept {
  try {
    watch(watcher);
  } catch (const std::bad_alloc&) {
    below_->close();
    watcher->on_closed(errors::no_memory);
  }
}

void PooledConnection::expect_by(Time deadline) noexcept {
  // relaxed: keep_time() reads it on this thread; the reactor orders a timer that is set later
  expected_by_.store(deadline, std::memory_order_relaxed);
  keep_time();
}

void PooledConnection::read(Watch& watch) {
  std::array<std::byte, read_size> buffer;
  for (int turn = 0; turn < reads_per_turn; ++turn) {
    const std::shared_ptr<transport::Watcher> watcher = watch.watcher();
    if (!watcher) return;  // removed, perhaps by the last on_bytes()
    const auto count = below_->receive(buffer, Time{}, {});
    if (!count && count.error().kind == ErrorKind::timeout) return;  // nothing there yet
    if (!count) return finish(watch, count.error());
    if (*count == 0) {
      below_->close();
      return finish(watch, transport::ended_by(minor::peer_closed));
    }
    const Time received = os::now();
    // relaxed: see renew()
    last_traffic_.store(received, std::memory_order_relaxed);
    watcher->on_bytes(Bytes(buffer).first(*count), received);
    if (*count < buffer.size()) return;
  }
}

// Makes the last call of a watcher, once.
void PooledConnection::finish(Watch& watch, Error reason) {
  const auto watcher = watch.end();
  {
    const os::LockGuard lock(mutex_);
    if (watch_.get() == &watch) watch_.reset();
    reason = cut_off_.value_or(reason);
  }
  if (watcher) watcher->on_closed(reason);
}

Time PooledConnection::time_limit() const noexcept {
  // relaxed: see expect_by() and renew()
  const Time expected = expected_by_.load(std::memory_order_relaxed);
  if (idle_timeout_ <= Duration::zero()) return expected;
  return std::min(expected, last_traffic_.load(std::memory_order_relaxed) + idle_timeout_);
}

// Sets a timer for an earlier limit only. If the limit has moved later, on_timer() notices it.
void PooledConnection::keep_time() noexcept {
  const Time limit = time_limit();
  {
    const os::LockGuard lock(mutex_);
    if (!watch_ || limit >= timer_at_) return;
    timer_at_ = limit;
  }
  try {
    reactor_.schedule(limit, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->on_timer();
    });
  } catch (const std::bad_alloc&) {
    cut_off(errors::no_memory);  // better than a connection without a limit
  }
}

void PooledConnection::cut_off(Error reason) noexcept {
  {
    const os::LockGuard lock(mutex_);
    timer_at_ = never;
    if (!watch_ || !is_open()) return;
    cut_off_ = reason;
  }
  below_->close();
}

void PooledConnection::forget_timer() {
  const os::LockGuard lock(mutex_);
  timer_at_ = never;
}

// Ends the connection, after a last message if the protocol above has one. Does nothing if a thread of the pool reads,
// bytes wait to be read, or an answer is due.
void PooledConnection::end_idle() noexcept {
  std::shared_ptr<Watch> watch;
  {
    const os::LockGuard lock(mutex_);
    watch = watch_;
  }
  const auto is_idle = [this](transport::Watcher& watcher) { return !has_unread() && !watcher.owes_answer(); };
  const auto watcher = watch ? watch->end_if(is_idle) : nullptr;
  if (!watcher) return;
  pool_->remove(descriptor());
  {
    const os::LockGuard lock(mutex_);
    if (watch_ == watch) watch_.reset();
  }
  watcher->on_evict();
  below_->close();
  watcher->on_closed(transport::ended_by(minor::idle_timeout));
}

void PooledConnection::on_timer() noexcept {
  forget_timer();
  const Time now = os::now();
  // relaxed: see expect_by()
  if (now >= expected_by_.load(std::memory_order_relaxed)) return cut_off(errors::deadline_passed);
  if (now >= time_limit()) {
    last_traffic_.store(now, std::memory_order_relaxed);  // relaxed: see renew()
    end_idle();
  }
  keep_time();
}

}  // namespace corelane::leader_followers
