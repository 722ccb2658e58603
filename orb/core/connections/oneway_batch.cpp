#include "orb/core/connections/oneway_batch.h"

#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/dispatch/current.h"
#include "orb/os/clock.h"
#include "orb/os/lock.h"
#include "orb/os/thread.h"

namespace corelane::core {
namespace {

constexpr Duration burst_ends = std::chrono::milliseconds{1};  // a burst ends after this time without a oneway
// A batch waits for 20 us, and the usual slack is 50 us.
constexpr Duration timer_slack = std::chrono::microseconds{1};

thread_local const char this_thread = 0;  // its address names the thread

}  // namespace

OnewayBatch::OnewayBatch(std::shared_ptr<transport::Connection> stream)
    : OnewayBatch(std::move(stream), OnewayFlusher::watch) {}

Time OnewayBatch::now() noexcept { return os::now(); }

bool OnewayBatch::may_batch() noexcept { return dispatch::current_job() == nullptr && !os::is_real_time(); }

// relaxed: hints, see the header
bool OnewayBatch::is_burst(Time now) noexcept {
  const Time before = last_.load(std::memory_order_relaxed);
  last_.store(now, std::memory_order_relaxed);
  const int run = now - before < close_together ? run_.load(std::memory_order_relaxed) : 0;
  if (run >= burst_from) return true;
  run_.store(run + 1, std::memory_order_relaxed);
  return false;
}

Expected<bool> OnewayBatch::take(std::span<const Bytes> request, Time deadline, Time now) noexcept {
  const std::size_t length = length_of(request);
  if (length > longest_request || !is_burst(now)) return false;
  // relaxed: only this thread makes itself the owner, and others take that away only when the burst is over
  if (owner_.load(std::memory_order_relaxed) != &this_thread && !begin()) return false;
  const os::LockGuard lock(mutex_);
  if (owner_.load(std::memory_order_relaxed) != &this_thread) return false;  // relaxed: mutex_ is held
  if (bytes_.size() + length > most_bytes || (!bytes_.empty() && now - since_ >= longest_wait))
    if (const auto sent = send_all(deadline); !sent) return sent.error();
  if (bytes_.empty()) since_ = now;
  for (const Bytes part : request) bytes_.insert(bytes_.end(), part.begin(), part.end());  // begin() has made room
  // relaxed: read by this thread, or with the mutex held
  filled_.store(true, std::memory_order_relaxed);
  return true;
}

// Makes the calling thread the owner of a burst. Returns false if it cannot.
bool OnewayBatch::begin() noexcept {
  if (!mutex_.try_lock()) return false;
  const os::LockGuard lock(mutex_, std::adopt_lock);
  if (owner_.load(std::memory_order_relaxed) != nullptr) return false;  // relaxed: mutex_ is held
  run_.store(0, std::memory_order_relaxed);  // relaxed: a hint. A thread that may not batch asks again later
  if (stream_ == nullptr || !may_batch()) return false;
  try {
    bytes_.reserve(most_bytes);
  } catch (const std::bad_alloc&) {
    return false;
  }
  if (!watch_(shared_from_this())) return false;
  run_.store(burst_from, std::memory_order_relaxed);      // relaxed: a hint
  owner_.store(&this_thread, std::memory_order_relaxed);  // relaxed: mutex_ is held
  return true;
}

// Other threads need not keep the owner's order. They send the batch only if that does not make them wait.
Expected<void> OnewayBatch::flush_now(Time deadline) noexcept {
  // relaxed: as in take()
  if (owner_.load(std::memory_order_relaxed) == &this_thread) {
    const os::LockGuard lock(mutex_);
    return send_all(deadline);
  }
  if (!mutex_.try_lock()) return {};
  const os::LockGuard lock(mutex_, std::adopt_lock);
  (void)send_all(Time{});
  return {};
}

Expected<void> OnewayBatch::send_all(Time deadline) noexcept {
  if (bytes_.empty() || stream_ == nullptr) return {};
  const Bytes all = bytes_;
  std::uint64_t position = 0;
  auto sent = stream_->send_by(Time{}, std::span{&all, 1}, position);
  if (!sent && sent.error().minor == minor::no_send_room && deadline > Time{}) {
    const dispatch::SuspensionScope waits;
    // relaxed: end() reads it repeatedly
    waits_for_room_.store(true, std::memory_order_relaxed);
    sent = stream_->send_by(deadline, std::span{&all, 1}, position);
    waits_for_room_.store(false, std::memory_order_relaxed);
  }
  if (!sent) run_.store(0, std::memory_order_relaxed);  // relaxed: a hint
  if (!sent && sent.error().minor == minor::no_send_room) return sent;
  bytes_.clear();
  // PAIR oneway_batch.filled: release here -> acquire in flush(). Later sends come after the batch.
  filled_.store(false, std::memory_order_release);
  return sent;
}

void OnewayBatch::end(Time deadline) noexcept {
  // Bound: the thread that holds the lock sends without waiting, or waits for room. If it waits for room, the
  // connection's end wakes it.
  while (!mutex_.try_lock()) {
    if (waits_for_room_.load(std::memory_order_relaxed)) return;  // relaxed: see send_all()
    std::this_thread::sleep_for(between_looks);
  }
  const os::LockGuard lock(mutex_, std::adopt_lock);
  (void)send_all(deadline);
  owner_.store(nullptr, std::memory_order_relaxed);  // relaxed: mutex_ is held, and take() looks again with it
  stream_.reset();
}

Time OnewayBatch::look_later(Time now) noexcept {
  pause_ = std::min(2 * pause_, longest_pause);
  return now + pause_;
}

Time OnewayBatch::look(Time now) noexcept {
  if (!mutex_.try_lock()) return look_later(now);
  const os::LockGuard lock(mutex_, std::adopt_lock);
  const bool is_due = !bytes_.empty() && now - since_ >= longest_wait;
  if (is_due && !send_all(Time{}) && !bytes_.empty()) {
    stream_->close_if_stalled(since_);  // no other thread waits for room
    return look_later(now);
  }
  pause_ = between_looks;
  const Time last = last_.load(std::memory_order_relaxed);  // relaxed: a hint
  const bool is_over = stream_ == nullptr || (bytes_.empty() && now - last >= burst_ends);
  if (is_over) owner_.store(nullptr, std::memory_order_relaxed);  // relaxed: mutex_ is held
  return is_over ? never : now + between_looks;
}

// Never destroyed, because its thread ends with the process. Placed in static memory, because there may be no memory to
// allocate.
//
// Also runs in the child of a fork(), which has neither the thread nor a mutex that it can use. There it replaces the
// parent's flusher without destroying it, because the list may be half changed, and the parent sends its batches. The
// forking thread does not lock the mutex before, because step() holds it while it closes connections, which takes other
// locks. Threads that belong to one ORB (Reopener, AsyncCalls) need no replacement: they end with their ORB, and a
// child that was forked while there was an ORB may use none.
OnewayFlusher& OnewayFlusher::make() noexcept {
  alignas(OnewayFlusher) static std::byte place[sizeof(OnewayFlusher)];
  return *new (place) OnewayFlusher;
}

OnewayFlusher& OnewayFlusher::instance() noexcept {
  static OnewayFlusher& made = []() noexcept -> OnewayFlusher& {
    std::atexit([] { instance().finish(); });
    pthread_atfork(nullptr, nullptr, [] { make(); });  // if this fails, children send the rest with their next oneway
    return make();
  }();
  return made;
}

bool OnewayFlusher::add(std::shared_ptr<OnewayBatch> batch) noexcept try {
  {
    const os::LockGuard lock(mutex_);
    if (ended_ || !thread_.start_once({.name = "oneways", .lazy_stack = true, .timer_slack = timer_slack}))
      return false;
    if (std::find(watched_.begin(), watched_.end(), batch) == watched_.end()) watched_.push_back(std::move(batch));
  }
  parker_.unpark();
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

bool OnewayFlusher::step(Time now) noexcept {
  const os::LockGuard lock(mutex_);
  wake_at_ = never;
  std::erase_if(watched_, [&](const auto& batch) {
    const Time again = batch->look(now);
    wake_at_ = std::min(wake_at_, again);
    return again == never;
  });
  return false;
}

// Ends all batches at exit, because static objects that sending needs may be destroyed after this.
void OnewayFlusher::finish() noexcept {
  std::vector<std::shared_ptr<OnewayBatch>> left;
  {
    const os::LockGuard lock(mutex_);
    ended_ = true;
    left.swap(watched_);
  }
  for (const auto& batch : left) batch->end(Time{});
}

}  // namespace corelane::core
