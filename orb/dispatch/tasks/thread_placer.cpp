#include "orb/dispatch/tasks/thread_placer.h"

#include <algorithm>
#include <utility>

#include "orb/os/lock.h"

namespace corelane::dispatch {

ThreadPlacer::ThreadPlacer(const Contract& contract, CeilingsOfTask ceilings)
    : contract_(contract), ceilings_(std::move(ceilings)) {}

// Returns the index of the resource in the contract; max_uses: the contract does not name it.
std::size_t ThreadPlacer::use_index(ResourceId resource) const noexcept {
  std::size_t i = 0;
  while (i < max_uses && (contract_.uses[i].resource != resource || resource == no_resource)) ++i;
  return i;
}

bool ThreadPlacer::enter(ResourceId resource) noexcept {
  const std::size_t i = use_index(resource);
  if (i == max_uses) return false;
  const os::LockGuard lock(mutex_);
  ++held_[i];
  place();
  return true;
}

void ThreadPlacer::leave(ResourceId resource) noexcept {
  const os::LockGuard lock(mutex_);
  --held_[use_index(resource)];
  place();
}

void ThreadPlacer::refresh_ceilings() noexcept {
  const os::LockGuard lock(mutex_);
  place();
}

// A demoted job first ends its critical sections, at their ceilings.
int ThreadPlacer::native() const noexcept {
  int level = demoted_.load(std::memory_order_relaxed) ? 0 : placement_.native;  // relaxed: see is_served()
  for (std::size_t i = 0; i < max_uses; ++i)
    if (held_[i] > 0)
      level = std::max(level, ceilings_[i]->native.load(std::memory_order_relaxed));  // relaxed: see set()
  return level;
}

void ThreadPlacer::attach(WorkerThread* thread) noexcept {
  const os::LockGuard lock(mutex_);
  thread_ = thread;
  place();  // its placement may have changed while it started
}

void ThreadPlacer::place() noexcept {
  const os::DeadlineShare share = is_served() ? placement_.share : os::DeadlineShare{};
  placed_at_ = native();
  if (thread_) misplaced_ = !thread_->place({.core = placement_.core, .native = placed_at_, .share = share});
}

void ThreadPlacer::take_share() noexcept {
  const os::LockGuard lock(mutex_);
  if (misplaced_ && is_served()) place();
}

void ThreadPlacer::settle() noexcept {
  const os::LockGuard lock(mutex_);
  place();
}

void ThreadPlacer::rebind() noexcept {
  const os::LockGuard lock(mutex_);
  if (thread_) thread_->rebind();
}

void ThreadPlacer::placement(ThreadPlacement placement) noexcept {
  const os::LockGuard lock(mutex_);
  const ThreadPlacement before = std::exchange(placement_, placement);
  if (before != placement) place();
}

void ThreadPlacer::set_level(int native) noexcept {
  const os::LockGuard lock(mutex_);
  if (std::exchange(placement_.native, native) != native) place();
}

bool ThreadPlacer::raise_level(int native) noexcept {
  const os::LockGuard lock(mutex_);
  placement_.native = native;
  const int level = this->native();
  if (level < placed_at_) return false;
  if (level > placed_at_) place();
  return true;
}

ThreadPlacement ThreadPlacer::granted_placement() const noexcept {
  const os::LockGuard lock(mutex_);
  ThreadPlacement placement = placement_;
  if (!thread_ || !thread_->real_time() || placement.share != os::DeadlineShare{}) placement.native = 0;
  return placement;
}

ThreadPlacement ThreadPlacer::placement() const noexcept {
  const os::LockGuard lock(mutex_);
  return placement_;
}

}  // namespace corelane::dispatch
