// DirectoryBell wakes one thread. The thread waits for unpark() or, while the bell is resting, also for something to
// happen in directories.
// Threads: one waiter; any thread calls unpark().
#pragma once

#include <span>
#include <string>

#include "orb/base/time.h"
#include "orb/os/files/directory_watch.h"
#include "orb/os/wait/doorbell.h"

namespace corelane::os {

class DirectoryBell {
 public:
  // Watches these directories from now on, instead of others. What happened before in those is lost. Returns false if
  // that is not possible; see DirectoryWatch.
  bool watch(std::span<const std::string> directories) noexcept;
  // Returns whether it watches. The watch ends when one of its directories does.
  bool watches() const noexcept { return bool(watch_); }
  // Discards what happened in the directories, and returns whether anything did.
  bool take_events() noexcept { return watch_.take(); }

  // Says whether park() ends when something happens in the directories. At the start it does not.
  void set_resting(bool resting) noexcept { resting_ = resting; }
  // Blocks until unpark() or the deadline; see set_resting(). Returns at once if there are events to take.
  void park(Time deadline) noexcept;
  void unpark() noexcept { bell_.ring(); }

 private:
  Doorbell bell_;
  // Owner: the waiter.
  DirectoryWatch watch_;
  bool resting_ = false;
};

}  // namespace corelane::os
