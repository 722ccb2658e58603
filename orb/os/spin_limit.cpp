#include "orb/os/spin_limit.h"

#include <atomic>
#include <cstddef>

#include "orb/os/usable_cores.h"

namespace corelane::os {
namespace {

std::atomic<std::size_t> spinners{0};

thread_local SpinBackoff backoff;

}  // namespace

bool SpinPermit::take() noexcept {
  if (held_) return true;
  std::size_t count = spinners.load(std::memory_order_relaxed);  // relaxed: a number alone
  while (count + 1 < usable_cores())                             // bound: other threads take or give back theirs
    // relaxed: as above
    if (spinners.compare_exchange_weak(count, count + 1, std::memory_order_relaxed)) return held_ = true;
  return false;
}

void SpinPermit::give_back() noexcept {
  if (!held_) return;
  spinners.fetch_sub(1, std::memory_order_relaxed);  // relaxed: a number alone
  held_ = false;
}

SpinBackoff& spin_backoff() noexcept { return backoff; }

}  // namespace corelane::os
