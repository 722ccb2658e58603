#include "orb/os/file_watch.h"

#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <utility>

namespace corelane::os {
namespace {

constexpr int most_reads = 16;  // for a process that makes events faster than this one reads them

}  // namespace

// Watches the file through its descriptor, because the path may lead elsewhere by now.
FileWatch::FileWatch(const Fd& file, const char* directory) noexcept {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", file.get());
  Fd queue(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!queue) return;
  if (inotify_add_watch(queue.get(), path, IN_ATTRIB | IN_CLOSE_WRITE | IN_MOVE_SELF | IN_DELETE_SELF) < 0) return;
  if (inotify_add_watch(queue.get(), directory, IN_MOVE_SELF | IN_DELETE_SELF) < 0) return;
  queue_ = std::move(queue);
}

bool FileWatch::is_quiet() const noexcept {
  // seq_cst: this thread's earlier writes must be in memory before it looks. A process that touches the file reads them
  // afterwards.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  int waiting = 0;
  return queue_ && ioctl(queue_.get(), FIONREAD, &waiting) == 0 && waiting == 0;
}

// Events beyond the bound make the watch look disturbed, which costs only time.
void FileWatch::clear() const noexcept {
  alignas(inotify_event) std::byte events[2048];
  for (int i = 0; queue_ && i < most_reads; ++i)
    if (read(queue_.get(), events, sizeof events) <= 0) return;
}

bool touch_file(const Fd& file) noexcept {
  const bool touched = futimens(file.get(), nullptr) == 0;
  // seq_cst: the counterpart of is_quiet(): touches first, reads memory afterwards
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return touched;
}

}  // namespace corelane::os
