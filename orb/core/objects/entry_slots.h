// EntrySlots records which EntryCounters one thread is inside. Only this thread writes its slots, so entering a servant
// takes plain stores instead of locked instructions. Threads that call the same object share no cache line.
//
// A thread writes the entry counter into a slot, and then reads its rule (active, holding, discarding or inactive). A
// thread that changes a rule first writes the rule, then calls os::order_threads(), and then reads all slots. So either
// the entering thread sees the new rule, or its slot is seen.
//
// Bounds: `threads` threads have slots. Other threads, upcalls nested more deeply than `depth`, and systems without
// os::order_threads() count inside the entry counter instead.
//
// Threads: each thread calls mine(), push() and pop() for itself only. is_anyone_in(): any.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace corelane::core {

class EntryCounter;

class alignas(64) EntrySlots {
 public:
  static constexpr std::size_t threads = 256;
  static constexpr std::size_t depth = 7;  // entry counters; a request takes one, and an upcall of an object two

  constexpr EntrySlots() = default;
  EntrySlots(const EntrySlots&) = delete;
  EntrySlots& operator=(const EntrySlots&) = delete;

  // Returns the calling thread's slots. Null: it has none, and counts inside the entry counter instead.
  static EntrySlots* mine() noexcept { return mine_ != nullptr ? mine_ : claim(); }

  bool has_room(std::size_t entry_counters) const noexcept { return used_ + entry_counters <= depth; }
  // Call it only if has_room(). The last entry counter pushed is the first to be popped.
  void push(const EntryCounter& entry_counter) noexcept {
    // PAIR entry_slots.slot: release here -> acquire in is_anyone_in(). The store of pop() before it stays visible.
    inside_[used_++].store(&entry_counter, std::memory_order_release);
  }
  void pop() noexcept {
    // PAIR entry_slots.slot: release here -> acquire in is_anyone_in(). The thread that tears down sees what the upcall
    // did.
    inside_[--used_].store(nullptr, std::memory_order_release);
  }

  // Returns whether a slot of any thread names the entry counter. Bound: threads * depth.
  static bool is_anyone_in(const EntryCounter& entry_counter) noexcept;

 private:
  struct Kept;
  static EntrySlots* claim() noexcept;
  static EntrySlots* take() noexcept;

  static std::array<EntrySlots, threads> all_;
  static std::atomic<std::size_t> ever_used_;  // how many of all_, from its beginning, were ever used
  static constinit thread_local EntrySlots* mine_;

  std::array<std::atomic<const EntryCounter*>, depth> inside_{};
  std::uint8_t used_ = 0;  // owner: its thread
  std::atomic<bool> taken_{false};
};

}  // namespace corelane::core
