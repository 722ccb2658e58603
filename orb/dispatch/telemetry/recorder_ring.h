// RecorderRing keeps the latest scheduling records of one state machine, in memory of a fixed size. New records
// overwrite the oldest. Writing takes no lock, no system call and no allocation, and never waits. A reader sees whole
// records or none.
//
// Threads: one writer at a time (the lock that guards a CoreScheduler or the Manager excludes its callers from each
// other); any number of readers at any time. Slots of 64 bytes, a power of two of them; a record takes one or more in a
// row:
//   word 0     tag: (position + 1) << 8 | number of the slot within its record; 0 while it is being written
//   words 1-7  of the record (orb/sched/trace/trace.h); the last slot's rest is unused
// Invariant: all records below head_ are whole, and so are their groups: one input with all its answers.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "orb/sched/trace/trace.h"

namespace corelane::dispatch {

class RecorderRing {
 public:
  static constexpr std::size_t payload = 7;  // words of a slot beside its tag
  static constexpr std::size_t least = 64;   // slots; a longest record has 14

  // Makes a ring of at least so many slots. Allocates and touches the memory.
  explicit RecorderRing(std::size_t slots);

  // Adds a record. Writer only. Readers see it from publish() on.
  template <typename T>
  void add(const T& item, Time at) noexcept {
    sched::encode(item, at, scratch_);
    write();
  }
  void add(const sched::Fact& fact) noexcept {
    sched::encode(fact, scratch_);
    write();
  }
  void publish() noexcept {
    // PAIR recorder.head: release here -> acquire in copy(). Publishes the slots below it.
    head_.store(next_, std::memory_order_release);
  }
  // Returns the time of the latest record, for records that have none of their own.
  Time last() const noexcept { return last_; }

  // Counts a job that ended late. A dump on a miss looks at misses(). Any thread.
  void note_miss() noexcept { misses_.fetch_add(1, std::memory_order_relaxed); }             // relaxed: a count
  std::uint64_t misses() const noexcept { return misses_.load(std::memory_order_relaxed); }  // relaxed: a count

  struct Copy {
    std::uint64_t lost = 0;            // slots before the first of these, which were overwritten
    std::vector<std::uint64_t> words;  // whole records, in order
  };
  // Returns a copy of the ring. Any thread that is not real-time (allocates). Bound: the ring.
  Copy copy() const;

  std::size_t slots() const noexcept { return mask_ + 1; }

 private:
  struct alignas(64) Slot {
    std::atomic<std::uint64_t> tag{0};
    std::array<std::atomic<std::uint64_t>, payload> words{};
  };
  static_assert(sizeof(Slot) == 64);

  static constexpr std::uint64_t tag_of(std::uint64_t position, std::size_t part) noexcept {
    return (position + 1) << 8 | part;
  }
  void write() noexcept;
  bool read(std::uint64_t position, std::uint64_t& found, std::array<std::uint64_t, payload>& words) const noexcept;

  // Constant.
  const std::size_t mask_;
  const std::unique_ptr<Slot[]> slots_;

  // Owner: the writer.
  std::uint64_t next_ = 0;
  Time last_{};
  sched::TraceRecord scratch_;

  // Shared.
  alignas(128) std::atomic<std::uint64_t> head_{0};
  std::atomic<std::uint64_t> misses_{0};
};

}  // namespace corelane::dispatch
