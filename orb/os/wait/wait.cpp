#include "orb/os/wait/wait.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <system_error>
#include <thread>

#include "orb/os/clock.h"
#include "orb/os/machine/cpu_mask.h"
#include "orb/os/wait/spin_guard.h"
#include "orb/os/wait/spin_limit.h"
#include "orb/os/wait/wait_loop.h"

namespace corelane::os {
namespace {

constexpr int pauses_per_look = 32;  // between two reads of the clock, one of which costs about as much

// Returns false at the deadline. Returns true when woken, for whatever reason, or if the word differed.
bool futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, Time deadline) noexcept {
  const timespec until = to_timespec(deadline);
  const long result = syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, expected,
                              deadline == never ? nullptr : &until, nullptr, FUTEX_BITSET_MATCH_ANY);
  return result == 0 || errno != ETIMEDOUT;
}

constexpr struct {
  std::string_view name;
  WaitMode mode;
} wait_modes[] = {{"spin", WaitMode::spin},
                  {"spin-then-park", WaitMode::spin_then_park},
                  {"adaptive", WaitMode::adaptive},
                  {"park", WaitMode::park}};

constexpr Duration cheapest_wake = std::chrono::microseconds{1}, dearest_wake = std::chrono::microseconds{200};
// The usual cost between cores. For a process that is bound to one core and so cannot measure it.
constexpr Duration usual_wake = std::chrono::microseconds{30};
constexpr int measured_wakes = 16;

// Two cores that this process may use. The first is this thread's core if it is bound to one. If there is only one,
// `second` is no_core.
struct TwoCores {
  CoreId first = no_core, second = no_core;
};
TwoCores two_cores() noexcept {
  const CpuMask& ours = process_affinity();
  TwoCores cores{.first = only_core_of(0)};
  for (CoreId core{0}; core.value < CpuMask::limit; ++core.value) {
    if (!ours.contains(core) || core == cores.first) continue;
    (cores.first == no_core ? cores.first : cores.second) = core;
  }
  return cores;
}

void stay_on(CoreId core) noexcept {
  if (core == no_core) return;
  CpuMask mask;
  mask.add(core);
  sched_setaffinity(0, CpuMask::native_size, mask.native());
}

// Returns the median of half a round trip between two sleeping threads, each bound to a core of its own. Unbound
// threads often share a core, where a wake-up costs a tenth of one between cores.
Duration measure_wake() {
  Parker there, back;
  const TwoCores cores = two_cores();
  if (cores.second == no_core) return usual_wake;
  std::array<Duration, measured_wakes> samples;
  std::thread answering([&] {
    stay_on(cores.second);
    for (int i = 0; i < measured_wakes; ++i) there.park(never), back.unpark();
  });
  CpuMask before;
  const bool bound = sched_getaffinity(0, CpuMask::native_size, before.native()) == 0;  // so the mask can be restored
  if (bound) stay_on(cores.first);
  for (Duration& sample : samples) {
    const Time start = now();
    there.unpark();
    back.park(never);
    sample = (now() - start) / 2;
  }
  if (bound) sched_setaffinity(0, CpuMask::native_size, before.native());
  answering.join();
  std::nth_element(samples.begin(), samples.begin() + measured_wakes / 2, samples.end());
  return std::clamp(samples[measured_wakes / 2], cheapest_wake, dearest_wake);
}

}  // namespace

std::optional<WaitMode> parse_wait_mode(std::string_view text) noexcept {
  for (const auto& [name, mode] : wait_modes)
    if (name == text) return mode;
  return std::nullopt;
}

std::string set_wait_mode(std::string_view text, WaitMode& out) {
  const auto mode = parse_wait_mode(text);
  if (!mode) return "park, spin-then-park, adaptive or spin";
  return out = *mode, std::string{};
}

std::string_view name_of(WaitMode mode) noexcept {
  for (const auto& [name, known] : wait_modes)
    if (known == mode) return name;
  return {};
}

WaitStrategy settled(WaitStrategy strategy) noexcept {
  if (strategy.mode == WaitMode::adaptive && spinner_limit() == 0) strategy.mode = WaitMode::park;
  return strategy;
}

Duration wake_cost() noexcept {
  static const Duration measured = [] {
    try {
      return measure_wake();
    } catch (const std::system_error&) {  // no thread could be started
      return dearest_wake;
    }
  }();
  return measured;
}

Time spin_end(WaitStrategy strategy, Time start, Time deadline) noexcept {
  if (strategy.mode == WaitMode::spin) return deadline;
  if (strategy.mode == WaitMode::park || deadline <= start) return start;
  return strategy.spin < deadline - start ? start + strategy.spin : deadline;
}

bool Parker::take_token() noexcept {
  std::uint32_t expected = token;
  // PAIR parker.word: acquire here <- release in unpark(). Makes visible what the waking thread wrote.
  // relaxed on failure: no token, nothing was published
  return word_.compare_exchange_strong(expected, empty, std::memory_order_acquire, std::memory_order_relaxed);
}

[[gnu::hot]] bool Parker::park(Time deadline, WaitStrategy strategy) noexcept {
  if (take_token()) return true;
  if (strategy.mode == WaitMode::park) return (deadline == never || deadline > now()) && sleep(deadline);
  const auto poll = [this] {
    for (int i = 0; i < pauses_per_look; ++i, spin_pause())
      if (take_token()) return true;
    return false;
  };
  // relaxed: a hint, which a concurrent wake-up may change
  const auto peer = [this] { return CoreId{waker_.load(std::memory_order_relaxed)}; };
  return wait_for(
      deadline, strategy, learnt_, poll, [this](Time until) { return sleep(until); }, peer);
}

[[gnu::hot]] bool Parker::sleep(Time deadline) noexcept {
  std::uint32_t expected = empty;
  // relaxed: only announces the sleep; the token's acquire is in take_token()
  word_.compare_exchange_strong(expected, asleep, std::memory_order_relaxed, std::memory_order_relaxed);
  // Bound: each turn ends by a token, by the deadline, or was a spurious wake-up.
  while (!take_token())
    // PAIR parker.word: acquire here <- release in unpark(), for a token that arrived at the deadline.
    if (!futex_wait(word_, asleep, deadline)) return word_.exchange(empty, std::memory_order_acquire) == token;
  return true;
}

void Parker::unpark() noexcept {
  // relaxed: a hint, see park()
  waker_.store(static_cast<std::int16_t>(sched_getcpu()), std::memory_order_relaxed);
  // PAIR parker.word: release here -> acquire in park() and take_token(). Publishes the caller's earlier writes.
  if (word_.exchange(token, std::memory_order_release) == asleep)
    syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace corelane::os
