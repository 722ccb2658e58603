#include "orb/os/files/inotify_queue.h"

#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstddef>

namespace corelane::os {
namespace {

constexpr int most_reads = 16;  // for processes that make events faster than this one reads them

// Returns all kinds of events in the bytes that one read gave.
std::uint32_t kinds_of(const std::byte* events, std::size_t size) noexcept {
  std::uint32_t kinds = 0;
  for (std::size_t at = 0; at < size;) {  // bound: the bytes
    const auto* const event = reinterpret_cast<const inotify_event*>(events + at);
    kinds |= event->mask;
    at += sizeof *event + event->len;
  }
  return kinds;
}

}  // namespace

bool InotifyQueue::open() noexcept {
  queue_.reset(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  return bool(queue_);
}

bool InotifyQueue::watch(const char* path, std::uint32_t events) const noexcept {
  return inotify_add_watch(queue_.get(), path, events) >= 0;
}

bool InotifyQueue::is_empty() const noexcept {
  int waiting = 0;
  return queue_ && ioctl(queue_.get(), FIONREAD, &waiting) == 0 && waiting == 0;
}

std::uint32_t InotifyQueue::take() const noexcept {
  alignas(inotify_event) std::byte events[2048];
  std::uint32_t kinds = 0;
  for (int i = 0; queue_ && i < most_reads; ++i) {
    const ssize_t size = ::read(queue_.get(), events, sizeof events);
    if (size <= 0) break;
    kinds |= kinds_of(events, static_cast<std::size_t>(size));
  }
  return kinds;
}

}  // namespace corelane::os
