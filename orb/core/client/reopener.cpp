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
    if (closed_) return errors::orb_destroyed;
    if (auto started = thread_.start_once({.name = "cl-reopen"}); !started) return started;
    std::erase_if(bindings_, [](const auto& weak) { return weak.expired(); });
    bindings_.push_back(binding);
  }
  wake();
  return {};
}

void Reopener::close() noexcept {
  {
    const os::LockGuard lock(mutex_);
    closed_ = true;
  }
  thread_.stop();
}

std::vector<std::shared_ptr<TaskBinding>> Reopener::watched() {
  std::vector<std::shared_ptr<TaskBinding>> result;
  const os::LockGuard lock(mutex_);
  for (const auto& weak : bindings_)
    if (auto binding = weak.lock()) result.push_back(std::move(binding));
  return result;
}

bool Reopener::step(Time) noexcept try {
  wake_at_ = never;
  // Each attempt may last, so the next one has a time of its own.
  for (const auto& binding : watched()) wake_at_ = std::min(wake_at_, binding->reopen(os::now()));
  return false;
} catch (const std::bad_alloc&) {
  constexpr Duration without_memory = std::chrono::seconds{1};
  wake_at_ = os::now() + without_memory;  // the attempts may have lasted
  return false;
}

}  // namespace corelane::core
