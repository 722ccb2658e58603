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
// Threads: each thread calls mine() and changes its slots for itself only. is_anyone_in(): any.
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
  // Add one or two entry counters, and remove them again. Add only if has_room(). The last ones added are the first to
  // be removed.
  void push(const EntryCounter& entry_counter) noexcept { set(used_++, &entry_counter); }
  void push(const EntryCounter& outer, const EntryCounter& inner) noexcept {
    const std::size_t used = used_;
    used_ += 2;
    set(used, &outer);
    set(used + 1, &inner);
  }
  void pop() noexcept { set(--used_, nullptr); }
  void pop_two() noexcept {
    const std::size_t left = used_ - std::size_t{2};
    used_ -= 2;
    set(left + 1, nullptr);
    set(left, nullptr);
  }

  // Returns whether a slot of any thread names the entry counter. Bound: threads * depth.
  static bool is_anyone_in(const EntryCounter& entry_counter) noexcept;

 private:
  struct Kept;
  static EntrySlots* claim() noexcept;
  static EntrySlots* take() noexcept;
  void set(std::size_t slot, const EntryCounter* entry_counter) noexcept {
    // PAIR entry_slots.slot: release here -> acquire in is_anyone_in(). The thread that tears down sees what the upcall
    // did, also if it reads the slot only after the next upcall has filled it.
    inside_[slot].store(entry_counter, std::memory_order_release);
  }

  static std::array<EntrySlots, threads> all_;
  static std::atomic<std::size_t> ever_used_;  // how many of all_, from its beginning, were ever used
  static constinit thread_local EntrySlots* mine_;

  std::array<std::atomic<const EntryCounter*>, depth> inside_{};
  std::uint8_t used_ = 0;  // owner: its thread
  std::atomic<bool> taken_{false};
};

}  // namespace corelane::core
