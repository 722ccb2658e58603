#include "orb/os/machine/cpu_mask.h"

#include <unistd.h>

namespace corelane::os {

const CpuMask& process_affinity() noexcept {
  static const CpuMask mask = [] {
    CpuMask found;
    if (sched_getaffinity(getpid(), CpuMask::native_size, found.native()) != 0) return CpuMask{};
    return found;
  }();
  return mask;
}

}  // namespace corelane::os
