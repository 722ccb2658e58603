#include "orb/dispatch/serving/source_poll.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "orb/base/errors.h"
#include "orb/os/clock.h"

namespace corelane::dispatch {
namespace {

int timeout_until(Time at) noexcept {
  if (at == never) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(os::left_until(at)).count();
  return static_cast<int>(std::min<std::int64_t>(left, std::numeric_limits<int>::max()));
}

}  // namespace

Expected<void> SourcePoll::open() noexcept {
  poll_.reset(epoll_create1(EPOLL_CLOEXEC));
  bell_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  epoll_event bell{.events = EPOLLIN, .data = {.ptr = nullptr}};
  if (!poll_ || !bell_ || epoll_ctl(poll_.get(), EPOLL_CTL_ADD, bell_.get(), &bell) != 0) return errors::no_descriptor;
  return {};
}

bool SourcePoll::add(RequestSource& source) noexcept {
  epoll_event event{.events = 0, .data = {.ptr = &source}};
  return epoll_ctl(poll_.get(), EPOLL_CTL_ADD, source.descriptor(), &event) == 0;
}

void SourcePoll::remove(const RequestSource& source) noexcept {
  epoll_event ignored{};
  (void)epoll_ctl(poll_.get(), EPOLL_CTL_DEL, source.descriptor(), &ignored);
  if (source.hang_up_descriptor() != source.descriptor())
    (void)epoll_ctl(poll_.get(), EPOLL_CTL_DEL, source.hang_up_descriptor(), &ignored);
}

void SourcePoll::watch_bytes(RequestSource* source, int descriptor) noexcept {
  epoll_event event{.events = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT, .data = {.ptr = source}};
  (void)epoll_ctl(poll_.get(), EPOLL_CTL_MOD, descriptor, &event);
}

// The descriptor may differ from that for bytes.
void SourcePoll::watch_end(RequestSource& source) noexcept {
  const auto events = source.end_events();
  if (!events) return;
  epoll_event event{.events = *events | EPOLLONESHOT, .data = {.ptr = &source}};
  const int fd = source.hang_up_descriptor();
  if (epoll_ctl(poll_.get(), EPOLL_CTL_MOD, fd, &event) != 0) (void)epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &event);
}

std::span<epoll_event> SourcePoll::wait(std::span<epoll_event> events, bool may_sleep) noexcept {
  const Time expiry{Duration{next_expiry_.load(std::memory_order_relaxed)}};  // relaxed: note_expiry() rings the bell
  const int count =
      epoll_wait(poll_.get(), events.data(), static_cast<int>(events.size()), may_sleep ? timeout_until(expiry) : 0);
  return events.first(static_cast<std::size_t>(std::max(count, 0)));
}

void SourcePoll::ring() noexcept { (void)eventfd_write(bell_.get(), 1); }

void SourcePoll::quiet() noexcept {
  eventfd_t ignored;
  (void)eventfd_read(bell_.get(), &ignored);
}

void SourcePoll::note_expiry(Time at) noexcept {
  const std::int64_t wanted = at.time_since_epoch().count();
  std::int64_t before = next_expiry_.load(std::memory_order_relaxed);  // relaxed: the exchange checks it
  while (wanted < before)                                              // bound: retries only when others came between
    if (next_expiry_.compare_exchange_weak(before, wanted, std::memory_order_relaxed)) return ring();
}

bool SourcePoll::take_expiry(Time now) noexcept {
  if (next_expiry_.load(std::memory_order_relaxed) > now.time_since_epoch().count())
    return false;                                                                   // relaxed: see wait()
  next_expiry_.store(never.time_since_epoch().count(), std::memory_order_relaxed);  // relaxed: this thread waits next
  return true;
}

}  // namespace corelane::dispatch
