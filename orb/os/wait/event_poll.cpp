#include "orb/os/wait/event_poll.h"

#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <system_error>

#include "orb/os/clock.h"

namespace corelane::os {
namespace {

bool control(const Fd& poll, int operation, int fd, void* owner, std::uint32_t what) noexcept {
  epoll_event event{.events = what | EPOLLET, .data = {.ptr = owner}};
  return ::epoll_ctl(poll.get(), operation, fd, &event) == 0;
}

// Empties the counter, so that the next event is reported.
void empty(const Fd& fd) noexcept {
  std::uint64_t count = 0;
  (void)!::read(fd.get(), &count, sizeof count);
}

}  // namespace

EventPoll::EventPoll()
    : poll_(made(::epoll_create1(EPOLL_CLOEXEC), "epoll")),
      bell_(made(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")),
      timer_(made(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd")) {
  if (!add(bell_.get(), &bell_, EPOLLIN) || !add(timer_.get(), &timer_, EPOLLIN))
    throw std::system_error(errno, std::generic_category(), "epoll");
}

bool EventPoll::add(int fd, void* owner, std::uint32_t what) noexcept {
  return control(poll_, EPOLL_CTL_ADD, fd, owner, what);
}

void EventPoll::change(int fd, void* owner, std::uint32_t what) noexcept {
  [[maybe_unused]] const bool changed = control(poll_, EPOLL_CTL_MOD, fd, owner, what);
  assert(changed && "not added");
}

void EventPoll::forget(int fd, const void* owner) noexcept {
  control(poll_, EPOLL_CTL_DEL, fd, nullptr, 0);
  for (Event& event : std::span(events_).first(count_))
    if (event.owner == owner) event = {};
}

// Time zero would disarm the timer; a time that has passed fires at once.
void EventPoll::set_alarm(Time at) noexcept {
  is_time_ = false;
  itimerspec when{};
  if (at != never) when.it_value = to_timespec(std::max(at, Time{Duration{1}}));
  ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
}

void EventPoll::ring() noexcept {
  const std::uint64_t one = 1;
  (void)!::write(bell_.get(), &one, sizeof one);
}

std::span<EventPoll::Event> EventPoll::wait(bool block) noexcept {
  std::array<epoll_event, at_once> told;
  // Not the library's epoll_wait(): it is a cancellation point, and entering and leaving one takes time.
  const long count = ::syscall(SYS_epoll_pwait, poll_.get(), told.data(), told.size(), block ? -1 : 0, nullptr, 0);
  count_ = 0;
  for (long i = 0; i < count; ++i) {
    const epoll_event& event = told[static_cast<std::size_t>(i)];
    is_time_ |= event.data.ptr == &timer_;
    if (event.data.ptr == &bell_ || event.data.ptr == &timer_)
      empty(*static_cast<const Fd*>(event.data.ptr));
    else
      events_[count_++] = {event.data.ptr, event.events};
  }
  return std::span(events_).first(count_);
}

}  // namespace corelane::os
