#include "orb/core/objects/entry_slots.h"

#include <algorithm>

#include "orb/base/thread_value.h"
#include "orb/os/threads/thread_barrier.h"

namespace corelane::core {

static_assert(sizeof(EntrySlots) == 64, "the slots of one thread are one cache line");

constinit std::array<EntrySlots, EntrySlots::threads> EntrySlots::all_{};
constinit std::atomic<std::size_t> EntrySlots::ever_used_{0};
constinit thread_local EntrySlots* EntrySlots::mine_ = nullptr;

// Kept owns the thread's slots, and lives as long as the thread.
struct EntrySlots::Kept {
  ~Kept() {
    mine_ = nullptr;
    // PAIR entry_slots.taken: release here -> acquire in take(). The next owner sees the slots empty.
    if (slots != nullptr) slots->taken_.store(false, std::memory_order_release);
  }
  EntrySlots* const slots = take();
};

EntrySlots* EntrySlots::claim() noexcept {
  if (!os::can_order_threads()) return nullptr;
  const Kept* kept = thread_value<Kept>();
  return kept != nullptr ? mine_ = kept->slots : nullptr;
}

EntrySlots* EntrySlots::take() noexcept {
  for (std::size_t i = 0; i < threads; ++i) {
    // PAIR entry_slots.taken: acquire here <- release in ~Kept().
    if (all_[i].taken_.exchange(true, std::memory_order_acquire)) continue;
    std::size_t before = ever_used_.load(std::memory_order_relaxed);  // relaxed: the exchange below checks it
    // Bound: other threads that begin meanwhile.
    // PAIR entry_slots.ever_used: release here -> acquire in is_anyone_in(). Comes before the first push().
    while (before <= i && !ever_used_.compare_exchange_weak(before, i + 1, std::memory_order_release)) {
    }
    return &all_[i];
  }
  return nullptr;
}

bool EntrySlots::is_anyone_in(const EntryCounter& entry_counter) noexcept {
  // PAIR entry_slots.ever_used: acquire here <- release in take().
  const std::size_t count = ever_used_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i)
    for (const auto& slot : all_[i].inside_)
      // PAIR entry_slots.slot: acquire here <- release in set().
      if (slot.load(std::memory_order_acquire) == &entry_counter) return true;
  return false;
}

}  // namespace corelane::core
