// FileWatch tells whether a file has changed since the last clear(), by one system call without a path lookup
// (inotify). It notices changes of the file's place, owner and times. It notices a change of content when a process
// that could write the file closes it. The kernel records a change before the call that made it returns, whichever
// process made the call. This process's own writes are not recorded: only closing is.
//
// Recorded: the file is renamed, removed, replaced, touched (touch_file()), or closed by a process that could write it;
// its directory is renamed or removed. Not recorded: a directory further up is renamed, or something is mounted over
// one. It differs from DirectoryWatch, which wakes a sleeping thread. A FileWatch answers a thread that asks before
// each use of the file. So it must not miss a change of the file itself.
// Threads: one at a time.
#pragma once

#include "orb/os/fd.h"
#include "orb/os/files/inotify_queue.h"

namespace corelane::os {

class FileWatch {
 public:
  FileWatch() = default;  // watches nothing: never quiet
  // Watches nothing if inotify is not available (fs.inotify.max_user_instances is used up, or /proc is missing).
  FileWatch(const Fd& file, const char* directory) noexcept;

  // Returns true only if certainly nothing has happened since clear().
  bool is_quiet() const noexcept;
  // Discards the recorded events. May keep those that arrive during the call.
  void clear() const noexcept;

 private:
  InotifyQueue queue_;
};

// Notifies all processes that watch the file. Needs the right to write it. Returns false with errno.
bool touch_file(const Fd& file) noexcept;

}  // namespace corelane::os
