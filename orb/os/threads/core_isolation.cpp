#include "orb/os/threads/core_isolation.h"

#include <dirent.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "orb/base/thread_safety.h"
#include "orb/os/lock.h"
#include "orb/os/pi_mutex.h"

namespace corelane::os {
namespace {

struct IsolatedCores {
  PiMutex mutex;
  CpuMask cores CORELANE_GUARDED_BY(mutex);
};

// Never destroyed: an ORB that lives until the process ends may still start threads then.
IsolatedCores& isolated_cores() noexcept {
  static IsolatedCores& isolated = *new IsolatedCores;
  return isolated;
}

template <typename Visit>
void each_thread(Visit visit) {
  DIR* const threads = opendir("/proc/self/task");
  if (threads == nullptr) return;
  while (const dirent* entry = readdir(threads))  // bound: the process's threads
    if (const int thread = std::atoi(entry->d_name); thread > 0) visit(thread);
  closedir(threads);
}

// Returns an empty mask for a thread that has ended.
CpuMask affinity_of(pid_t thread) noexcept {
  CpuMask mask;
  if (sched_getaffinity(thread, CpuMask::native_size, mask.native()) != 0) return {};
  return mask;
}

bool bind(pid_t thread, const CpuMask& mask) noexcept {
  return !mask.is_empty() && sched_setaffinity(thread, CpuMask::native_size, mask.native()) == 0;
}

}  // namespace

CoreIsolation::CoreIsolation(CoreId core) : core_(core) {
  process_affinity();  // reads the mask before the first thread leaves the core
  {
    const LockGuard lock(isolated_cores().mutex);
    isolated_cores().cores.add(core);
  }
  each_thread([&](pid_t thread) {
    CpuMask mask = affinity_of(thread);
    if (!mask.contains(core)) return;
    mask.remove(core);
    if (bind(thread, mask)) moved_.push_back(thread);
  });
}

CoreIsolation::CoreIsolation(CoreIsolation&& other) noexcept
    : core_(std::exchange(other.core_, no_core)), moved_(std::move(other.moved_)) {}

// Also lets threads return that started meanwhile. A thread that may run on only one core counts as bound to it. The
// exception is a thread that had to leave the kept core and had only one other core left.
CoreIsolation::~CoreIsolation() {
  if (core_ == no_core) return;
  const CpuMask without = ordinary_affinity();
  {
    const LockGuard lock(isolated_cores().mutex);
    isolated_cores().cores.remove(core_);
  }
  each_thread([&](pid_t thread) {
    CpuMask mask = affinity_of(thread);
    const bool moved = std::ranges::find(moved_, thread) != moved_.end();
    const bool ordinary = mask == without;
    if (mask.only() ? !(moved && ordinary) : !(moved || ordinary)) return;
    mask.add(core_);
    bind(thread, mask);
  });
}

namespace {

CpuMask without_isolated_cores() noexcept CORELANE_REQUIRES(isolated_cores().mutex) {
  CpuMask rest = process_affinity();
  for (std::int16_t core = 0; core < CpuMask::limit; ++core)
    if (isolated_cores().cores.contains(CoreId{core})) rest.remove(CoreId{core});
  return rest.is_empty() ? process_affinity() : rest;
}

}  // namespace

CpuMask ordinary_affinity() noexcept {
  const LockGuard lock(isolated_cores().mutex);
  return without_isolated_cores();
}

CpuMask ordinary_affinity_in_child() noexcept {
  if (!isolated_cores().mutex.try_lock()) return process_affinity();
  const LockGuard lock(isolated_cores().mutex, std::adopt_lock);
  return without_isolated_cores();
}

}  // namespace corelane::os
