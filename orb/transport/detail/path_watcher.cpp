#include "orb/transport/detail/path_watcher.h"

#include <algorithm>
#include <new>
#include <string>

#include "orb/os/lock.h"
#include "orb/os/mutex.h"
#include "orb/os/wait/agent_thread.h"
#include "orb/transport/detail/path_listener.h"

namespace corelane::transport {
namespace {

// A PathWatcher with its thread.
struct WatcherThread {
  WatcherThread() { (void)thread.start({.name = "corelane-paths"}); }

  PathWatcher watcher;
  os::AgentThread<PathWatcher> thread{watcher};
};

}  // namespace

PathWatcher::PathWatcher() { bell_.set_resting(true); }

std::shared_ptr<PathWatcher> PathWatcher::of_process() {
  static os::Mutex mutex;
  static std::weak_ptr<WatcherThread> known;
  const os::LockGuard lock(mutex);
  auto thread = known.lock();
  if (!thread) known = thread = std::make_shared<WatcherThread>();
  return {thread, &thread->watcher};
}

void PathWatcher::add(PathListener& listener) {
  {
    const os::LockGuard lock(mutex_);
    listeners_.push_back(&listener);
    watches_all_ = false;
  }
  bell_.unpark();
}

void PathWatcher::remove(PathListener& listener) noexcept {
  const os::LockGuard lock(mutex_);
  std::erase(listeners_, &listener);
}

bool PathWatcher::step(Time now) noexcept {
  const os::LockGuard lock(mutex_);
  if (bell_.take_events()) due_ = std::min(due_, now + between_looks);  // before the looks, so that nothing is missed
  if (!bell_.watches() || !watches_all_) watch_all(now);
  if (now < due_) return false;
  for (PathListener* listener : listeners_) listener->look(now);
  due_ = now + (bell_.watches() ? between_watched_looks : between_looks);
  return false;
}

// Also makes a look due, because what happened before the watch was made is not known.
void PathWatcher::watch_all(Time now) noexcept try {
  std::vector<std::string> directories;
  for (const PathListener* listener : listeners_) directories.push_back(listener->directory());
  watches_all_ = bell_.watch(directories);
  due_ = std::min(due_, now + between_looks);
} catch (const std::bad_alloc&) {
  watches_all_ = false;
  due_ = std::min(due_, now + between_looks);
}

}  // namespace corelane::transport
