#include "orb/os/process/fork_guard.h"

#include <pthread.h>

#include <atomic>

namespace corelane::os {
namespace {

// relaxed everywhere: a child starts with the values that the forking thread saw
std::atomic<int> fork_guards{0};

// Runs in the child, which has one thread.
void look_at_guards() noexcept {
  if (fork_guards.load(std::memory_order_relaxed) > 0) guarded_child.store(true, std::memory_order_relaxed);  // relaxed
}

}  // namespace

constinit std::atomic<bool> guarded_child{false};

ForkGuard::ForkGuard() noexcept {
  static const int registered = pthread_atfork(nullptr, nullptr, look_at_guards);
  (void)registered;                                     // without memory for it, children are not warned
  fork_guards.fetch_add(1, std::memory_order_relaxed);  // relaxed: see above
}

ForkGuard::~ForkGuard() { fork_guards.fetch_sub(1, std::memory_order_relaxed); }  // relaxed: see above

}  // namespace corelane::os
