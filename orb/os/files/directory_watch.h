// DirectoryWatch tells a sleeping thread that something happened in directories (inotify), so that it need not look
// there again and again.
//
// Noticed: an entry is removed or renamed, or is closed by a process that could write it; a directory itself is renamed
// or removed. A new file is noticed when the process that wrote it closes it. Not noticed: a socket, a link or a
// directory is made; a directory further up is renamed, or something is mounted over one.
// Threads: one at a time.
#pragma once

#include <span>
#include <string>

#include "orb/os/files/inotify_queue.h"

namespace corelane::os {

class DirectoryWatch {
 public:
  DirectoryWatch() = default;  // watches nothing
  // Watches all these directories, or nothing if one is missing, or if inotify is not available
  // (fs.inotify.max_user_instances is used up). The first time in this process, the log has the reason and the remedy.
  explicit DirectoryWatch(std::span<const std::string> directories) noexcept;

  // Returns whether it watches. The watch ends when one of its directories does.
  explicit operator bool() const noexcept { return bool(queue_); }
  // Returns a descriptor that is readable once something has happened; -1: nothing is watched.
  int descriptor() const noexcept { return queue_.descriptor(); }
  // Discards what happened, and returns whether anything did.
  bool take() noexcept;

 private:
  InotifyQueue queue_;
};

}  // namespace corelane::os
