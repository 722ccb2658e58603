#include "orb/os/files/file_watch.h"

#include <sys/inotify.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdio>
#include <utility>

namespace corelane::os {

// Watches the file through its descriptor, because the path may lead elsewhere by now.
FileWatch::FileWatch(const Fd& file, const char* directory) noexcept {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", file.get());
  InotifyQueue queue;
  if (!queue.open()) return;
  if (!queue.watch(path, IN_ATTRIB | IN_CLOSE_WRITE | IN_MOVE_SELF | IN_DELETE_SELF)) return;
  if (!queue.watch(directory, IN_MOVE_SELF | IN_DELETE_SELF)) return;
  queue_ = std::move(queue);
}

bool FileWatch::is_quiet() const noexcept {
  // seq_cst: this thread's earlier writes must be in memory before it looks. A process that touches the file reads them
  // afterwards.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return queue_.is_empty();
}

// Events that stay in the queue make the watch look disturbed, which costs only time.
void FileWatch::clear() const noexcept { (void)queue_.take(); }

bool touch_file(const Fd& file) noexcept {
  const bool touched = futimens(file.get(), nullptr) == 0;
  // seq_cst: the counterpart of is_quiet(): touches first, reads memory afterwards
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return touched;
}

}  // namespace corelane::os
