#include "orb/core/requests/request_order.h"

#include <algorithm>
#include <new>
#include <utility>

#include "orb/os/lock.h"

namespace corelane::core {

RequestOrder::Decision RequestOrder::enter(dispatch::JobPtr& job, const Key& key) {
  // relaxed: only the thread that has the connection's turn adds to it, and the turn orders these threads
  if (idle()) return Decision::run;
  const os::LockGuard lock(mutex_);
  if (is_idle()) return Decision::run;
  const bool in_order = !has_oneway_running(key.object) && !has_oneway_waiting(key.object, waiting_.size());
  if (in_order && held_ == 0 && running_.size() < limits_.parallel + suspended_) return Decision::run;
  running_.reserve(running_.size() + waiting_.size() + 1);  // so that ended() and take() cannot fail
  waiting_.emplace_back();                                  // may throw; then nothing has changed
  waiting_.back() = {.job = std::move(job), .key = key};
  waiting_bytes_ += key.bytes;
  full_ = is_full_with(waiting_.size(), waiting_bytes_);
  return full_ ? Decision::full : Decision::waits;
}

// If the result is false, it stays so until enter(): other threads only take requests out.
bool RequestOrder::may_become_full(std::size_t bytes) const noexcept {
  const os::LockGuard lock(mutex_);
  return is_full_with(waiting_.size() + 1, waiting_bytes_ + bytes);
}

bool RequestOrder::detach(const dispatch::Job& job, const Key& key) noexcept try {
  const os::LockGuard lock(mutex_);
  running_.reserve(running_.size() + waiting_.size() + 1);  // keeps a place for each request that waits
  running_.push_back({.job = &job, .key = key});
  note_count();
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

void RequestOrder::note_count() noexcept {
  // relaxed: see enter()
  count_.store(running_.size() + waiting_.size(), std::memory_order_relaxed);
}

bool RequestOrder::has_oneway_running(const void* object) const noexcept {
  return std::any_of(running_.begin(), running_.end(),
                     [&](const Running& r) { return r.key.oneway && r.key.object == object; });
}

bool RequestOrder::has_oneway_waiting(const void* object, std::size_t before) const noexcept {
  return std::any_of(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(before),
                     [&](const Waiting& w) { return w.key.oneway && w.key.object == object; });
}

// Returns the index of the first request that may run, or waiting_.size() if none may.
std::size_t RequestOrder::next_index() const noexcept {
  if (held_ > 0 || running_.size() >= limits_.parallel + suspended_) return waiting_.size();
  std::size_t index = 0;
  while (index < waiting_.size()) {  // bound: limits_.waiting
    const void* const object = waiting_[index].key.object;
    if (!has_oneway_running(object) && !has_oneway_waiting(object, index)) break;
    ++index;
  }
  return index;
}

RequestOrder::Next RequestOrder::next() noexcept {
  Next result;
  const std::size_t index = next_index();
  if (index < waiting_.size()) {
    const auto at = waiting_.begin() + static_cast<std::ptrdiff_t>(index);
    running_.push_back({.job = at->job.get(), .key = at->key});  // enter() and detach() reserved the space
    waiting_bytes_ -= at->key.bytes;
    result.job = std::move(at->job);
    waiting_.erase(at);
    result.more = next_index() < waiting_.size();
  }
  note_count();
  const bool has_room = waiting_.size() < limits_.waiting / 2 + 1 && waiting_bytes_ < limits_.bytes;
  if (full_ && has_room) {
    full_ = false;
    result.may_read = true;
  }
  if (tells_when_idle_ && is_idle()) {
    tells_when_idle_ = false;
    result.may_read = true;
  }
  return result;
}

RequestOrder::Next RequestOrder::ended(const dispatch::Job& job) noexcept {
  const os::LockGuard lock(mutex_);
  std::erase_if(running_, [&](const Running& r) { return r.job == &job; });
  return next();
}

RequestOrder::Next RequestOrder::take() noexcept {
  const os::LockGuard lock(mutex_);
  return next();
}

bool RequestOrder::begin_wait() noexcept {
  const os::LockGuard lock(mutex_);
  ++suspended_;
  return next_index() < waiting_.size();
}

void RequestOrder::end_wait() noexcept {
  const os::LockGuard lock(mutex_);
  --suspended_;
}

void RequestOrder::hold() noexcept {
  const os::LockGuard lock(mutex_);
  ++held_;
}

bool RequestOrder::let_go() noexcept {
  const os::LockGuard lock(mutex_);
  --held_;
  return next_index() < waiting_.size();
}

bool RequestOrder::wait_until_idle() noexcept {
  const os::LockGuard lock(mutex_);
  return tells_when_idle_ = !is_idle();
}

}  // namespace corelane::core
