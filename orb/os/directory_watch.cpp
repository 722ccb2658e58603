#include "orb/os/directory_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace corelane::os {
namespace {

constexpr std::uint32_t directory_ended = IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED;
constexpr std::uint32_t directory_events =
    IN_CREATE | IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
constexpr int most_reads_of_directory = 16;  // for processes that make events faster than this one reads them

// Returns all kinds of events in the bytes that one read gave.
std::uint32_t event_kinds_of(const std::byte* events, std::size_t size) noexcept {
  std::uint32_t kinds = 0;
  for (std::size_t at = 0; at < size;) {  // bound: the bytes
    const auto* const event = reinterpret_cast<const inotify_event*>(events + at);
    kinds |= event->mask;
    at += sizeof *event + event->len;
  }
  return kinds;
}

}  // namespace

DirectoryWatch::DirectoryWatch(std::span<const std::string> directories) noexcept {
  Fd queue(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!queue) return;
  for (const std::string& directory : directories)
    if (inotify_add_watch(queue.get(), directory.c_str(), directory_events) < 0) return;
  queue_ = std::move(queue);
}

bool DirectoryWatch::take() noexcept {
  alignas(inotify_event) std::byte events[2048];
  bool any = false;
  for (int i = 0; queue_ && i < most_reads_of_directory; ++i) {
    const ssize_t size = ::read(queue_.get(), events, sizeof events);
    if (size <= 0) break;
    any = true;
    if ((event_kinds_of(events, static_cast<std::size_t>(size)) & directory_ended) != 0) queue_.reset();
  }
  return any;
}

}  // namespace corelane::os
