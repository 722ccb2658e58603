#include "orb/os/threads/closer.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <memory>

#include "orb/base/sanitizer.h"
#include "orb/base/thread_safety.h"
#include "orb/os/lock.h"
#include "orb/os/thread.h"
#include "orb/os/threads/core_isolation.h"

#if CORELANE_THREAD_SANITIZER
extern "C" void AnnotateRWLockReleased(const char* file, int line, const volatile void* lock, long is_writer);
#endif

namespace corelane::os {
namespace {

constexpr std::size_t stack_size = 128 * 1024;
constexpr std::size_t slice = 256 * 1024;  // some tens of microseconds; whole pages

void unmap_slices(const Closer::Task& task) noexcept {
  auto* const base = static_cast<std::byte*>(task.base);
  for (std::size_t at = 0; at < task.size; at += slice) munmap(base + at, std::min(slice, task.size - at));
}

// Replaces a mutex in the child of a fork(). The parent's thread holds it, and that thread's id belongs to another
// thread in the child. So no thread of the child could unlock it.
void make_anew(PiMutex& mutex) noexcept {
#if CORELANE_THREAD_SANITIZER
  AnnotateRWLockReleased(__FILE__, __LINE__, &mutex, 1);  // otherwise it takes the new mutex for locked
#endif
  std::construct_at(&mutex);
}

}  // namespace

// Never destroyed, because the closers' threads may outlive static objects. A child of fork() has neither these threads
// nor usable locks, so the child makes the locks anew. The child takes no memory that was handed over, because its
// addresses may be in use for something else.
struct Closer::All {
  All() noexcept { pthread_atfork(lock_all, unlock_all, make_all_anew); }
  // The handlers of fork(). No analysis: the first locks the mutexes, and one of the others unlocks or replaces them.
  static void lock_all() noexcept CORELANE_NO_THREAD_SAFETY_ANALYSIS {
    for (Closer* one : instance().each()) one->mutex_.lock();
  }
  static void unlock_all() noexcept CORELANE_NO_THREAD_SAFETY_ANALYSIS {
    for (Closer* one : instance().each()) one->mutex_.unlock();
  }
  static void make_all_anew() noexcept CORELANE_NO_THREAD_SAFETY_ANALYSIS {
    for (Closer* one : instance().each()) {
      one->runs_ = false;
      make_anew(one->mutex_);
    }
    instance().memory.closed_ = true;
  }
  static All& instance() noexcept {
    static All& one = *new All;
    return one;
  }
  std::array<Closer*, 2> each() noexcept { return {&descriptors, &memory}; }

  Closer descriptors{"corelane-closer"};
  Closer memory{"corelane-unmap"};
};

Closer& Closer::of_descriptors() noexcept { return All::instance().descriptors; }
Closer& Closer::of_memory() noexcept { return All::instance().memory; }

bool Closer::take(const Task& task) noexcept {
  const LockGuard lock(mutex_);
  if (closed_ || count_ == tasks_.size() || (!runs_ && !(runs_ = start()))) return false;
  tasks_[(first_ + count_++) % tasks_.size()] = task;
  return true;
}

void Closer::await() noexcept {
  UniqueLock lock(mutex_);
  idle_.wait(lock, [this]() CORELANE_REQUIRES(mutex_) { return !runs_; });
}

// Starts an ordinary thread, whatever the class of the calling thread. No signal interrupts it.
bool Closer::start() noexcept {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  const sched_param lowest{};
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, stack_size);
  pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
  pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
  pthread_attr_setschedparam(&attributes, &lowest);
  const CpuMask mask = ordinary_affinity();
  if (!mask.is_empty()) pthread_attr_setaffinity_np(&attributes, CpuMask::native_size, mask.native());
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const bool started = pthread_create(&thread, &attributes, run, this) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  return started;
}

void* Closer::run(void* self) noexcept {
  auto& closer = *static_cast<Closer*>(self);
  name_this_thread(closer.name_);
  while (const auto task = closer.next()) task->run(*task);  // bound: what was handed over
  return nullptr;
}

std::optional<Closer::Task> Closer::next() noexcept {
  const LockGuard lock(mutex_);
  if (count_ == 0) {
    runs_ = false;
    idle_.notify_all();
    return std::nullopt;
  }
  --count_;
  return tasks_[first_++ % tasks_.size()];
}

void unmap(void* base, std::size_t size) noexcept {
  const Closer::Task task{.run = unmap_slices, .base = base, .size = size};
  if (size <= slice || !Closer::of_memory().take(task)) munmap(base, size);
}

}  // namespace corelane::os
