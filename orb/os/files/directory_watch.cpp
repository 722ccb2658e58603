#include "orb/os/files/directory_watch.h"

#include <sys/inotify.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "orb/os/log.h"

namespace corelane::os {
namespace {

constexpr std::uint32_t directory_ended = IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED;
constexpr std::uint32_t directory_events =
    IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

// Says once why no more can be watched. The other errors concern one directory.
void say_if_used_up(int error) noexcept try {
  static std::atomic<bool> said{false};
  if (error != EMFILE && error != ENFILE && error != ENOSPC) return;
  if (said.exchange(true, std::memory_order_relaxed)) return;  // relaxed: guards no data
  log::warn("inotify cannot watch the runtime directory (" + std::string(std::strerror(error)) +
            "), so this process looks there from time to time; raise " +
            (error == ENOSPC ? "fs.inotify.max_user_watches"
                             : "fs.inotify.max_user_instances, or the limit of open files (ulimit -n)"));
} catch (const std::bad_alloc&) {
}

}  // namespace

DirectoryWatch::DirectoryWatch(std::span<const std::string> directories) noexcept {
  InotifyQueue queue;
  bool works = queue.open();
  for (const std::string& directory : directories) works = works && queue.watch(directory.c_str(), directory_events);
  if (works)
    queue_ = std::move(queue);
  else
    say_if_used_up(errno);
}

bool DirectoryWatch::take() noexcept {
  const std::uint32_t kinds = queue_.take();
  if ((kinds & directory_ended) != 0) queue_.close();
  return kinds != 0;
}

}  // namespace corelane::os
