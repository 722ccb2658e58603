#include "orb/os/locks/light_wait.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace corelane::os {

#ifdef __x86_64__

namespace {

constexpr std::uint64_t longest_cycles = 20'000;
constexpr unsigned fast_wake_up = 1;  // C0.1: wakes up faster than C0.2

bool has_waitpkg() noexcept {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (ecx & (1U << 5)) != 0;
}

[[gnu::target("waitpkg")]] void monitor_and_wait(const std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
  _umonitor(const_cast<std::atomic<std::uint32_t>*>(&word));
  // relaxed: the caller reads the word again. A write after _umonitor() ends the wait.
  if (word.load(std::memory_order_relaxed) == value) (void)_umwait(fast_wake_up, __rdtsc() + longest_cycles);
}

}  // namespace

bool can_wait_lightly() noexcept {
  static const bool can = has_waitpkg();
  return can;
}

void wait_lightly(const std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
  monitor_and_wait(word, value);
}

#else

bool can_wait_lightly() noexcept { return false; }
void wait_lightly(const std::atomic<std::uint32_t>&, std::uint32_t) noexcept {}

#endif

}  // namespace corelane::os
