#include "orb/core/client/reopener.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "orb/base/errors.h"
#include "orb/core/client/task_binding.h"
#include "orb/os/clock.h"
#include "orb/os/lock.h"

namespace corelane::core {

Expected<void> Reopener::watch(const std::shared_ptr<TaskBinding>& binding) {
  {
    const os::LockGuard lock(mutex_);
    // relaxed: written under the lock
    if (closing_.load(std::memory_order_relaxed)) return errors::orb_destroyed;
    std::erase_if(bindings_, [](const auto& weak) { return weak.expired(); });
    bindings_.push_back(binding);
    if (!thread_.joinable()) {
      auto thread = os::start_thread({.name = "cl-reopen"}, [this] { run(); });
      if (!thread) {
        bindings_.pop_back();
        return thread.error();
      }
      thread_ = std::move(*thread);
    }
  }
  wake();
  return {};
}

void Reopener::close() noexcept {
  os::Thread thread;
  {
    const os::LockGuard lock(mutex_);
    // PAIR reopener.closing: release here -> acquire in run().
    closing_.store(true, std::memory_order_release);
    thread = std::move(thread_);
  }
  wake();
  thread.join();
}

std::vector<std::shared_ptr<TaskBinding>> Reopener::watched() {
  std::vector<std::shared_ptr<TaskBinding>> result;
  const os::LockGuard lock(mutex_);
  for (const auto& weak : bindings_)
    if (auto binding = weak.lock()) result.push_back(std::move(binding));
  return result;
}

void Reopener::run() noexcept {
  constexpr Duration without_memory = std::chrono::seconds{1};
  // PAIR reopener.closing: acquire here <- release in close(). Bound: until then.
  while (!closing_.load(std::memory_order_acquire)) {
    Time next = never;
    try {
      for (const auto& binding : watched()) next = std::min(next, binding->reopen(os::now()));
    } catch (const std::bad_alloc&) {
      next = os::now() + without_memory;
    }
    parker_.park(next);
  }
}

}  // namespace corelane::core
