#include "orb/os/wait.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "orb/os/clock.h"

namespace corelane::os {
namespace {

constexpr int pauses_per_look = 32;  // between two looks at the clock, which costs about as much

// false at the deadline; true when woken, for whatever reason, or when the word differed.
bool futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, Time deadline) noexcept {
  const timespec until = to_timespec(deadline);
  const long result = syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, expected,
                              deadline == never ? nullptr : &until, nullptr, FUTEX_BITSET_MATCH_ANY);
  return result == 0 || errno != ETIMEDOUT;
}

}  // namespace

Time spin_end(WaitStrategy strategy, Time start, Time deadline) noexcept {
  if (strategy.mode == WaitMode::spin) return deadline;
  if (strategy.mode == WaitMode::park || deadline <= start) return start;
  return strategy.spin < deadline - start ? start + strategy.spin : deadline;
}

bool Parker::take_token() noexcept {
  std::uint32_t expected = token;
  // PAIR parker.word: acquire here <- release in unpark(). What the waker wrote is visible.
  // relaxed on failure: no token, nothing was published
  return word_.compare_exchange_strong(expected, empty, std::memory_order_acquire, std::memory_order_relaxed);
}

bool Parker::park(Time deadline, WaitStrategy strategy) noexcept {
  if (take_token()) return true;
  const Time start = now();
  if (strategy.mode != WaitMode::park) {
    // Bound: spin_end(), by the clock.
    for (const Time end = spin_end(strategy, start, deadline); now() < end;)
      for (int i = 0; i < pauses_per_look; ++i, spin_pause())
        if (take_token()) return true;
  }
  if (strategy.mode == WaitMode::spin || deadline <= start) return take_token();

  std::uint32_t expected = empty;
  // relaxed: announces sleep only; the token's acquire is in take_token()
  word_.compare_exchange_strong(expected, asleep, std::memory_order_relaxed, std::memory_order_relaxed);
  // Bound: each turn ends by a token, by the deadline, or was a spurious wake-up.
  while (!take_token())
    // PAIR parker.word: acquire here <- release in unpark(), for a token that came with the deadline.
    if (!futex_wait(word_, asleep, deadline)) return word_.exchange(empty, std::memory_order_acquire) == token;
  return true;
}

void Parker::unpark() noexcept {
  // PAIR parker.word: release here -> acquire in park() and take_token(). Publishes what the waker wrote before.
  if (word_.exchange(token, std::memory_order_release) == asleep)
    syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace corelane::os
