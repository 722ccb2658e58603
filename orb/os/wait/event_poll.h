// EventPoll lets one thread wait for descriptors, for a time, and for a ring from other threads. It is an epoll set in
// edge-triggered mode (EPOLLET), so that waiting for a descriptor again takes no call. It has a timerfd and an eventfd
// of its own.
// Threads: any thread calls ring(); only the waiting thread calls the others.
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
  // What epoll reported for a descriptor: EPOLLIN, EPOLLRDHUP, ... of epoll_ctl(2). Without an owner: forget() removed
  // it.
  struct Event {
    void* owner = nullptr;
    std::uint32_t what = 0;
  };

  // Throws std::system_error if there is no descriptor or no memory.
  EventPoll();
  EventPoll(const EventPoll&) = delete;  // the kernel holds addresses of its members
  EventPoll& operator=(const EventPoll&) = delete;

  // Reports events of kinds `what`, and errors and hang-ups, to `owner` until forget(). Returns false if the system
  // refuses, with errno. The caller keeps the descriptor, which does not change.
  bool add(int fd, void* owner, std::uint32_t what) noexcept;
  // Changes the reported events to `what`. If such an event is pending now, it is reported once more.
  void change(int fd, void* owner, std::uint32_t what) noexcept;
  // Stops reports for the descriptor, and empties events that wait() has already returned. Call it before you close the
  // descriptor.
  void forget(int fd, const void* owner) noexcept;

  // Sets the only alarm, which replaces an earlier one; `never` turns it off. At that time wait() ends, and
  // take_alarm() returns true once. A system call.
  void set_alarm(Time at) noexcept;
  bool take_alarm() noexcept { return std::exchange(is_time_, false); }
  // Ends the current wait(), or the next one.
  void ring() noexcept;

  // Returns what happened. Empty: an alarm, a ring, or nothing. `block`: waits until something happens. The events are
  // valid until the next call; forget() empties those of its owner.
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
