#include "orb/os/files/directory_watch.h"

#include <sys/inotify.h>

#include <cstdint>
#include <utility>

namespace corelane::os {
namespace {

constexpr std::uint32_t directory_ended = IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED;
constexpr std::uint32_t directory_events =
    IN_CREATE | IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;

}  // namespace

DirectoryWatch::DirectoryWatch(std::span<const std::string> directories) noexcept {
  InotifyQueue queue;
  if (!queue.open()) return;
  for (const std::string& directory : directories)
    if (!queue.watch(directory.c_str(), directory_events)) return;
  queue_ = std::move(queue);
}

bool DirectoryWatch::take() noexcept {
  const std::uint32_t kinds = queue_.take();
  if ((kinds & directory_ended) != 0) queue_.close();
  return kinds != 0;
}

}  // namespace corelane::os
