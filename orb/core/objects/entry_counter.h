// EntryCounter controls the entry of threads to a resource, such as the calls of an object. It has the rule (whether
// threads may enter), and knows whether threads are inside. Its owner changes the rule, and learns when all threads
// that entered before have left.
//
// A thread enters in one of two ways:
// - It counts itself in the word that holds the rule: enter() and leave(), one locked instruction each.
// - It enters the entry counter in its EntrySlots, which costs no locked instruction: enter_by_slots() and
//   leave_by_slots(), and UpcallGuard.
//
// Threads: any. enter() and leave() are wait-free except for one atomic instruction each.
#pragma once

#include <atomic>
#include <cstdint>

#include "orb/core/objects/entry_slots.h"

namespace corelane::core {

enum class Passage : std::uint32_t { holding = 0, active = 1, discarding = 2, inactive = 3 };  // POAManager's order

class EntryCounter {
 public:
  explicit EntryCounter(Passage passage) noexcept : word_(pack(passage)) {}

  // Returns the rule that applies. The caller is inside, and must call leave(), only if it is `active`.
  Passage enter() noexcept {
    // PAIR entry_counter: acquire here <- release in set(). What was set up before opening is visible inside.
    const Passage passage = passage_of(word_.fetch_add(1, std::memory_order_acquire));
    if (passage != Passage::active) leave();
    return passage;
  }
  // Counts one more visit, whatever the rule is by now, while the caller is inside. Any thread may end it with leave().
  void add() noexcept {
    word_.fetch_add(1, std::memory_order_relaxed);  // relaxed: published when the caller leaves
  }
  // Returns true if the rule has changed. Then the thread that tears down what is inside must check whether it is
  // empty().
  bool leave() noexcept {
    // PAIR entry_counter.count: release here -> acquire in empty(), for the thread that tears down.
    const std::uint64_t before = word_.fetch_sub(1, std::memory_order_acq_rel);
    if (passage_of(before) == Passage::active) return false;
    note_departure();
    return true;
  }
  // Enters by the slots of the calling thread. This thread must leave with leave_by_slots(), after it has left all that
  // it entered later. Returns false if it has no room there, or if the rule is not `active`.
  bool enter_by_slots() noexcept {
    EntrySlots* const slots = EntrySlots::mine();
    if (slots == nullptr || !slots->has_room(1)) return false;
    slots->push(*this);
    // seq_cst: orders the compiler only, as in UpcallGuard::enter_by_slots()
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (passage() == Passage::active) return true;
    leave_by_slots();
    return false;
  }
  void leave_by_slots() noexcept {
    EntrySlots::mine()->pop();
    std::atomic_signal_fence(std::memory_order_seq_cst);  // seq_cst: as in enter_by_slots()
    if (passage() != Passage::active) note_departure();
  }
  // Called by a thread that removed this from its slots and found that the rule is not `active`. Makes waiting threads
  // check again. If two threads leave, the one that calls this last sees that the other has left.
  void note_departure() noexcept {
    // PAIR entry_counter.changes: release here -> acquire here and in wait_until_empty(). Publishes the empty slot.
    changes_.fetch_add(1, std::memory_order_acq_rel);
    changes_.notify_all();
  }

  // Returns whether no thread is inside. Call it after the rule was changed to one that refuses entry.
  bool empty() const noexcept {
    // The slots come first, because a visitor may move from there to the word: see add().
    // PAIR entry_counter.count: acquire here <- release in leave(). The thread that tears down sees what the visitors
    // did.
    return !EntrySlots::is_anyone_in(*this) && (word_.load(std::memory_order_acquire) & count_mask) == 0;
  }
  // PAIR entry_counter: acquire here <- release in set().
  Passage passage() const noexcept { return passage_of(word_.load(std::memory_order_acquire)); }

  // `empty`: no thread is inside any more.
  struct Change {
    Passage before;
    bool empty;
  };
  Change set(Passage passage) noexcept;
  // Do the same as set() in two steps, for many entry counters with one order_entries() between. begin_set() returns
  // the previous rule.
  Passage begin_set(Passage passage) noexcept;
  bool end_set() noexcept {  // returns empty()
    note_departure();
    return empty();
  }
  // After it returns, empty() sees the slots of all threads that entered under the rules from before. It interrupts the
  // cores on which threads of this process run, each for about a microsecond.
  static void order_entries() noexcept;

  // Blocks until no thread is inside, or until the rule is `active` again. Do not call it from inside.
  void wait_until_empty() const noexcept;

 private:
  static constexpr std::uint64_t count_mask = 0xffff'ffff;
  static constexpr std::uint64_t pack(Passage passage) noexcept {
    return std::uint64_t{static_cast<std::uint32_t>(passage)} << 32;
  }
  static constexpr Passage passage_of(std::uint64_t word) noexcept { return static_cast<Passage>(word >> 32); }

  std::atomic<std::uint64_t> word_;
  std::atomic<std::uint32_t> changes_{0};  // counts changes of the rule, and departures while it is not `active`
};

}  // namespace corelane::core
