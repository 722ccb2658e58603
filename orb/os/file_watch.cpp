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

constexpr int most_reads = 16;  // for somebody who does things faster than we read of them

}  // namespace

// By its descriptor, since the path may lead elsewhere by now.
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
  // seq_cst: what this thread wrote before is in memory when it looks, since who touches the file looks there next
  std::atomic_thread_fence(std::memory_order_seq_cst);
  int waiting = 0;
  return queue_ && ioctl(queue_.get(), FIONREAD, &waiting) == 0 && waiting == 0;
}

// What is left beyond the bound makes the watch look disturbed, which costs time alone.
void FileWatch::clear() const noexcept {
  alignas(inotify_event) std::byte events[2048];
  for (int i = 0; queue_ && i < most_reads; ++i)
    if (read(queue_.get(), events, sizeof events) <= 0) return;
}

bool touch_file(const Fd& file) noexcept {
  const bool touched = futimens(file.get(), nullptr) == 0;
  // seq_cst: as in is_quiet(), the other way round
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return touched;
}

}  // namespace corelane::os
