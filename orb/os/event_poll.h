// EventPoll: one thread waits for descriptors, for a time, and for whoever rings. An epoll set whose descriptors are
// told of edge by edge (EPOLLET), so that waiting for one again takes no call; with a timerfd and an eventfd of its
// own. Threads: ring() any; all else the one that waits.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "orb/base/time.h"
#include "orb/os/fd.h"

namespace corelane::os {

class EventPoll {
 public:
  // What epoll told of a descriptor: EPOLLIN, EPOLLRDHUP, ... of epoll_ctl(2). Without an owner: it is gone.
  struct Event {
    void* owner = nullptr;
    std::uint32_t what = 0;
  };

  // std::system_error: no descriptor, or no memory.
  EventPoll();
  EventPoll(const EventPoll&) = delete;  // the kernel has addresses of its parts
  EventPoll& operator=(const EventPoll&) = delete;

  // `owner` is told of `what`, and of errors and hang-ups, whenever more of it happens, until forget(). False: the
  // system refuses, as errno says. The descriptor stays the caller's, and stays as it is.
  bool add(int fd, void* owner, std::uint32_t what) noexcept;
  // From now on of `what`; if any of that is so now, once more.
  void change(int fd, void* owner, std::uint32_t what) noexcept;
  // Nothing any more, not even what wait() gave already. Before the descriptor is closed.
  void forget(int fd, const void* owner) noexcept;

  // wait() ends then, and take_alarm() says so once; `never`: no more. An alarm before it is off. A system call.
  void set_alarm(Time at) noexcept;
  bool take_alarm() noexcept { return std::exchange(is_time_, false); }
  // wait() ends, if not this one, the next.
  void ring() noexcept;

  // What happened; empty: it was time, or somebody rang, or nothing. `block`: until something does. The events are
  // valid until the next call, and forget() empties those of its owner.
  std::span<Event> wait(bool block) noexcept;

 private:
  static constexpr std::size_t at_once = 64;

  Fd poll_;
  Fd bell_;
  Fd timer_;
  std::array<Event, at_once> events_{};
  std::size_t count_ = 0;
  bool is_time_ = false;
};

}  // namespace corelane::os
