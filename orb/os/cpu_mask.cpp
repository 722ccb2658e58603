#include "orb/os/cpu_mask.h"

#include <dirent.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>

#include "orb/os/pi_mutex.h"

namespace corelane::os {
namespace {

struct KeptFree {
  PiMutex mutex;
  CpuMask cores;  // guarded by mutex
};

// Never destroyed: an ORB that only ends with the process still makes threads then.
KeptFree& kept_free() noexcept {
  static KeptFree& kept = *new KeptFree;
  return kept;
}

// A thread that may run on this core alone stays there.
void take_off(pid_t thread, CoreId core) noexcept {
  CpuMask mask;
  if (sched_getaffinity(thread, CpuMask::native_size, mask.native()) != 0 || !mask.contains(core)) return;
  mask.remove(core);
  if (!mask.is_empty()) (void)sched_setaffinity(thread, CpuMask::native_size, mask.native());
}

}  // namespace

const CpuMask& process_affinity() noexcept {
  static const CpuMask mask = [] {
    CpuMask found;
    if (sched_getaffinity(getpid(), CpuMask::native_size, found.native()) != 0) return CpuMask{};
    return found;
  }();
  return mask;
}

CpuMask ordinary_affinity() noexcept {
  CpuMask rest = process_affinity();
  const std::lock_guard lock(kept_free().mutex);
  for (std::int16_t core = 0; core < CpuMask::limit; ++core)
    if (kept_free().cores.contains(CoreId{core})) rest.remove(CoreId{core});
  return rest.is_empty() ? process_affinity() : rest;
}

void keep_off(CoreId core) noexcept {
  {
    const std::lock_guard lock(kept_free().mutex);
    kept_free().cores.add(core);
  }
  DIR* const threads = opendir("/proc/self/task");
  if (threads == nullptr) return;
  while (const dirent* entry = readdir(threads))  // bound: the process's threads
    if (const int thread = std::atoi(entry->d_name); thread > 0) take_off(thread, core);
  closedir(threads);
}

}  // namespace corelane::os
