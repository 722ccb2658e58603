#include "orb/os/wait/doorbell.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>

#include "orb/os/clock.h"
#include "orb/os/wait/wait_loop.h"

namespace corelane::os {
namespace {

bool is_readable(int fd) noexcept {
  pollfd entry{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&entry, 1, 0) > 0;
}

}  // namespace

bool Doorbell::open() noexcept {
  if (!event_) event_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  return static_cast<bool>(event_);
}

void Doorbell::wait_beside(int fd, Time deadline, WaitStrategy strategy) noexcept {
  if (strategy.mode == WaitMode::park) return sleep_beside(fd, deadline);
  const auto poll = [&] {
    // PAIR doorbell.word: acquire here <- release in ring().
    return word_.load(std::memory_order_acquire) == rung || is_readable(fd);
  };
  const auto sleep = [&](Time until) {
    sleep_beside(fd, until);
    return until == deadline;  // the waiter itself checks why it woke
  };
  wait_for(deadline, strategy, learnt_, poll, sleep, [] { return no_core; });
  // PAIR doorbell.word: acquire here <- release in ring().
  word_.exchange(resting, std::memory_order_acquire);
}

void Doorbell::sleep_beside(int fd, Time deadline) noexcept {
  std::uint32_t expected = resting;
  // PAIR doorbell.asleep: release here -> acquire in ring(). Publishes the descriptor that open() made.
  // relaxed on failure: the exchange below acquires
  if (word_.compare_exchange_strong(expected, asleep, std::memory_order_release, std::memory_order_relaxed)) {
    std::array<pollfd, 2> entries{
        {{.fd = fd, .events = POLLIN, .revents = 0}, {.fd = event_.get(), .events = POLLIN, .revents = 0}}};
    const timespec wait = to_timespec(deadline == never ? Duration::zero() : left_until(deadline));
    ppoll(entries.data(), entries.size(), deadline == never ? nullptr : &wait, nullptr);
    std::uint64_t count = 0;
    if (entries[1].revents != 0) (void)!::read(event_.get(), &count, sizeof count);
  }
  // PAIR doorbell.word: acquire here <- release in ring(). Makes visible what the ringing thread wrote.
  word_.exchange(resting, std::memory_order_acquire);
}

void Doorbell::ring() noexcept {
  parker_.unpark();
  // PAIR doorbell.word: release here -> acquire in sleep_beside() and the poll. Publishes the caller's earlier writes.
  // PAIR doorbell.asleep: acquire here <- release in sleep_beside(). Makes the descriptor visible.
  if (word_.exchange(rung, std::memory_order_acq_rel) != asleep) return;
  const std::uint64_t one = 1;
  (void)!::write(event_.get(), &one, sizeof one);
}

}  // namespace corelane::os
