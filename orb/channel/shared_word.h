// SharedWord accesses one integer of memory that another process reads, and perhaps writes. Such memory is raw and
// begins as zeros. So its words are accessed through atomic_ref, and no constructor has to run in it.
//
// Everything that this library writes where the peer can see it goes through store(), exchange(), add() or
// copy_to_shared(). So the tests' injection build can end the process after each of these writes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "orb/base/copy.h"
#include "orb/base/copy_few.h"

namespace corelane::channel {

inline constexpr std::size_t no_share = 128;  // two adjacent lines, because the hardware prefetches them in pairs

// A growing loan is copied in pieces. The peer copies one while this end copies the next.
#ifdef CORELANE_CHANNEL_INJECT
void after_store(const void* where) noexcept;  // defined by the tests
inline constexpr std::size_t copied_at_once = 256, growing_piece = 1024;
#else
inline void after_store(const void*) noexcept {}
inline constexpr std::size_t copied_at_once = SIZE_MAX, growing_piece = 64 * 1024;
#endif

template <typename T>
class SharedWord {
  static_assert(std::atomic_ref<T>::is_always_lock_free, "shared memory needs address-free atomics");

 public:
  explicit SharedWord(T& word) noexcept : at_(&word) {}

  T load(std::memory_order order) const noexcept { return word().load(order); }
  void store(T value, std::memory_order order) const noexcept {
    word().store(value, order);
    after_store(at_);
  }
  T exchange(T value, std::memory_order order) const noexcept {
    const T old = word().exchange(value, order);
    after_store(at_);
    return old;
  }
  void add(T value, std::memory_order order) const noexcept {
    word().fetch_add(value, order);
    after_store(at_);
  }

 private:
  std::atomic_ref<T> word() const noexcept { return std::atomic_ref<T>(*at_); }

  T* at_;
};

// Loads a word that only the peer may write. Its memory may be mapped read-only here.
template <typename T>
T load_shared(const T& word, std::memory_order order) noexcept {
  return std::atomic_ref<T>(const_cast<T&>(word)).load(order);
}

// Copies bytes that a later store publishes.
inline void copy_to_shared(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  for (std::size_t at = 0; at < size;) {  // bound: the size; one turn, except in the injection build
    const std::size_t piece = size - at < copied_at_once ? size - at : copied_at_once;
    copy_bytes(to + at, from + at, piece);
    after_store(to + at);
    at += piece;
  }
}

// Does the same for up to short_copy bytes, without a call.
inline void copy_few_to_shared(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  copy_few_bytes(to, from, size);
  after_store(to);
}

}  // namespace corelane::channel
