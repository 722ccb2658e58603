// Turnstile: counts who is inside, and lets whoever owns it change the rule of entry, in one atomic word: so nobody
// slips in between the change and the count.
//
// Threads: any. enter() and leave() are wait-free but for one atomic instruction each.
#pragma once

#include <atomic>
#include <cstdint>

namespace corelane::core {

enum class Passage : std::uint32_t { holding = 0, active = 1, discarding = 2, inactive = 3 };  // POAManager's order

class Turnstile {
 public:
  explicit Turnstile(Passage passage) noexcept : word_(pack(passage)) {}

  // The rule that applies. The caller is inside, and to leave(), only if it is `active`.
  Passage enter() noexcept {
    // PAIR turnstile: acquire here <- release in set(). What was set up before opening is visible inside.
    const Passage passage = passage_of(word_.fetch_add(1, std::memory_order_acquire));
    if (passage != Passage::active) leave();
    return passage;
  }
  // True when the last one left after the rule had changed.
  bool leave() noexcept {
    // PAIR turnstile.count: release here -> acquire in wait_until_empty() and here, for whoever tears down.
    const std::uint64_t before = word_.fetch_sub(1, std::memory_order_acq_rel);
    const bool last = (before & count_mask) == 1 && passage_of(before) != Passage::active;
    if (last) word_.notify_all();
    return last;
  }

  bool empty() const noexcept { return (load() & count_mask) == 0; }
  // PAIR turnstile: acquire here <- release in set().
  Passage passage() const noexcept { return passage_of(word_.load(std::memory_order_acquire)); }

  // False when the rule was that already. True when nobody is inside any more: `empty`.
  struct Change {
    Passage before;
    bool empty;
  };
  Change set(Passage passage) noexcept {
    std::uint64_t word = word_.load(std::memory_order_relaxed);  // relaxed: the exchange below checks it
    // Bound: retries only when somebody entered or left meanwhile.
    // PAIR turnstile: release here -> acquire in enter(). Whoever enters sees what was set up before.
    while (!word_.compare_exchange_weak(word, pack(passage) | (word & count_mask), std::memory_order_acq_rel)) {
    }
    word_.notify_all();
    return {passage_of(word), (word & count_mask) == 0};
  }

  // Returns when nobody is inside. Only when the rule keeps newcomers out; not from inside.
  void wait_until_empty() const noexcept {
    for (std::uint64_t word = load(); (word & count_mask) != 0; word = load()) word_.wait(word);
  }

 private:
  static constexpr std::uint64_t count_mask = 0xffff'ffff;
  static constexpr std::uint64_t pack(Passage passage) noexcept {
    return std::uint64_t{static_cast<std::uint32_t>(passage)} << 32;
  }
  static constexpr Passage passage_of(std::uint64_t word) noexcept { return static_cast<Passage>(word >> 32); }
  // PAIR turnstile.count: acquire here <- release in leave(). Whoever tears down sees what the visitors did.
  std::uint64_t load() const noexcept { return word_.load(std::memory_order_acquire); }

  std::atomic<std::uint64_t> word_;
};

}  // namespace corelane::core
