#include "orb/os/wait/spin_limit.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>

#include "orb/os/machine/cpu_mask.h"
#include "orb/os/machine/cpu_quota.h"

namespace corelane::os {
namespace {

std::atomic<std::size_t> spinners{0};

thread_local SpinBackoff backoff;

}  // namespace

std::size_t spinner_limit(std::size_t allowed, std::size_t online, std::optional<std::size_t> quota) noexcept {
  const std::size_t usable = std::min(allowed, quota.value_or(allowed));
  const bool peers_may_run_elsewhere = allowed == 1 && online > 1 && quota.value_or(online) > 1;
  return peers_may_run_elsewhere ? 1 : usable - 1;
}

std::size_t spinner_limit() noexcept {
  static const std::size_t limit = [] {
    const auto allowed =
        static_cast<std::size_t>(std::max(CPU_COUNT_S(CpuMask::native_size, process_affinity().native()), 1));
    const auto online = static_cast<std::size_t>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L));
    try {
      return spinner_limit(allowed, online, quota_of_groups("/proc/self/cgroup", "/proc/self/mountinfo"));
    } catch (const std::exception&) {  // no memory
      return std::size_t{0};
    }
  }();
  return limit;
}

bool SpinPermit::take() noexcept {
  if (held_) return true;
  std::size_t count = spinners.load(std::memory_order_relaxed);  // relaxed: a number alone
  while (count < spinner_limit())  // bound: retries only when another thread takes or returns a permit
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
