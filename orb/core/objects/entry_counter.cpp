#include "orb/core/objects/entry_counter.h"

#include "orb/os/threads/thread_barrier.h"

namespace corelane::core {

Passage EntryCounter::begin_set(Passage passage) noexcept {
  std::uint64_t word = word_.load(std::memory_order_relaxed);  // relaxed: the exchange below checks it
  // Bound: retries only if a thread entered or left meanwhile.
  // PAIR entry_counter: release here -> acquire in enter() and passage(). A thread that enters sees what was set up
  // before.
  while (!word_.compare_exchange_weak(word, pack(passage) | (word & count_mask), std::memory_order_acq_rel)) {
  }
  return passage_of(word);
}

void EntryCounter::order_entries() noexcept {
  if (os::can_order_threads()) os::order_threads();
}

EntryCounter::Change EntryCounter::set(Passage passage) noexcept {
  const Passage before = begin_set(passage);
  if (passage != Passage::active) order_entries();
  return {before, end_set()};
}

void EntryCounter::wait_until_empty() const noexcept {
  // Bound: one look for each thread that leaves, and for each change of the rule.
  for (;;) {
    // PAIR entry_counter.changes: acquire here <- release in note_departure().
    const std::uint32_t seen = changes_.load(std::memory_order_acquire);
    if (empty() || passage() == Passage::active) return;
    changes_.wait(seen, std::memory_order_acquire);
  }
}

}  // namespace corelane::core
