#include "orb/transport/detail/path_watcher.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <string>

#include "orb/os/clock.h"
#include "orb/os/lock.h"
#include "orb/os/mutex.h"
#include "orb/os/thread.h"
#include "orb/transport/detail/path_listener.h"

namespace corelane::transport {
namespace {

// Steps a PathWatcher on a thread of its own.
class WatcherThread {
 public:
  WatcherThread() {
    auto thread = os::start_thread({.name = "corelane-paths"}, [this]() noexcept { run(); });
    if (thread) thread_ = std::move(*thread);
  }
  WatcherThread(const WatcherThread&) = delete;
  WatcherThread& operator=(const WatcherThread&) = delete;
  ~WatcherThread() {
    // PAIR path_watcher.stopping: release here -> acquire in run().
    stopping_.store(true, std::memory_order_release);
    watcher.parker().unpark();
    thread_.join();
  }

  PathWatcher watcher;

 private:
  void run() noexcept {
    // Bound: until the last listener ends. PAIR path_watcher.stopping: acquire here <- release in the destructor.
    while (!stopping_.load(std::memory_order_acquire)) {
      (void)watcher.step(os::now());
      watcher.parker().park(watcher.wake_at());
    }
  }

  std::atomic<bool> stopping_{false};
  os::Thread thread_;
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
