#include "orb/os/process/fork_guard.h"

#include <pthread.h>

#include <atomic>

namespace corelane::os {
namespace {

// relaxed everywhere: a child starts with the values that the forking thread saw
std::atomic<int> fork_guards{0};
std::atomic<bool> guarded_child{false};

// Runs in the child, which has one thread.
void look_at_guards() noexcept {
  if (fork_guards.load(std::memory_order_relaxed) > 0) guarded_child.store(true, std::memory_order_relaxed);  // relaxed
}

}  // namespace

ForkGuard::ForkGuard() noexcept {
  static const int registered = pthread_atfork(nullptr, nullptr, look_at_guards);
  (void)registered;                                     // without memory for it, children are not warned
  fork_guards.fetch_add(1, std::memory_order_relaxed);  // relaxed: see above
}

ForkGuard::~ForkGuard() { fork_guards.fetch_sub(1, std::memory_order_relaxed); }  // relaxed: see above

[[gnu::hot]] bool is_guarded_child() noexcept {
  // relaxed: see above
  return guarded_child.load(std::memory_order_relaxed);
}

}  // namespace corelane::os
