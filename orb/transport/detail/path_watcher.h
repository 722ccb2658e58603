// PathWatcher looks at the sockets of listeners with a path: soon after something has happened in one of their
// directories, and every few seconds. It is an agent. One thread of the process (corelane-paths) steps one for all
// listeners.
//
// Threads: add(), remove() and parker().unpark() any; the others on one.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "orb/base/agent.h"
#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/os/mutex.h"
#include "orb/os/wait/directory_bell.h"

namespace corelane::transport {

class PathListener;

class PathWatcher final : public Agent {
 public:
  // Between two looks where the directories are watched. The watch does not report that a parent directory was renamed.
  static constexpr Duration between_watched_looks = std::chrono::seconds{5};
  // Between two looks where they cannot be watched, and between a change and the look that follows. So several changes
  // lead to one look.
  static constexpr Duration between_looks = std::chrono::seconds{1};

  PathWatcher();
  PathWatcher(const PathWatcher&) = delete;
  PathWatcher& operator=(const PathWatcher&) = delete;

  // Returns the PathWatcher of this process. A thread steps it as long as a caller keeps it. If that thread cannot
  // start, no socket is made again.
  static std::shared_ptr<PathWatcher> of_process();

  void add(PathListener& listener);
  // Stops looking at the listener. Waits for the end of a look.
  void remove(PathListener& listener) noexcept;

  // Looks at all listeners if that is due.
  bool step(Time now) noexcept override;
  Time wake_at() const noexcept { return due_; }
  os::DirectoryBell& parker() noexcept { return bell_; }

 private:
  void watch_all(Time now) noexcept CORELANE_REQUIRES(mutex_);

  os::Mutex mutex_;
  os::DirectoryBell bell_;
  Time due_{};  // the next look; owner: the thread that steps
  std::vector<PathListener*> listeners_ CORELANE_GUARDED_BY(mutex_);
  bool watches_all_ CORELANE_GUARDED_BY(mutex_) = false;  // their directories
};

}  // namespace corelane::transport
