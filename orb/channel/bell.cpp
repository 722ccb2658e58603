#include "orb/channel/bell.h"

#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <iterator>

#include "orb/channel/peer_watch.h"
#include "orb/os/clock.h"
#include "orb/os/peers/passed_descriptors.h"

namespace corelane::channel {
namespace {

constexpr std::chrono::microseconds spinners_rest{100};
constexpr int packets_at_once = 16;  // wake-up packets; a correct peer has one on its way at most

bool is_ready(int fd, short what) noexcept {
  pollfd asked{fd, what, 0};
  return poll(&asked, 1, 0) == 1 && (asked.revents & what) != 0;
}

// Writes one wake-up. The other process that has an eventfd could clear its O_NONBLOCK. So this checks for room first;
// a full eventfd is readable already. If the other process fills it between the check and the write, this end blocks.
// That process belongs to the same user, which may stop this one anyway.
void ring_event(int event, bool is_shared) noexcept {
  if (is_shared && !is_ready(event, POLLOUT)) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto put = write(event, &one, sizeof one);
}

// Reads without blocking, even if the other end clears O_NONBLOCK of an eventfd that both have. RWF_NOWAIT (Linux 5.10)
// makes the call itself non-blocking.
void read_shared(int event, void* bytes, std::size_t size) noexcept {
  const iovec part{bytes, size};
  if (preadv2(event, &part, 1, -1, RWF_NOWAIT) >= 0 || errno != EOPNOTSUPP || !is_ready(event, POLLIN)) return;
  [[maybe_unused]] const auto got = read(event, bytes, size);
}

}  // namespace

// Returns the thread's number for a signal, which alone needs it. Asks for it each time, because after fork() a
// remembered number would be the parent's.
std::uint32_t Sleeper::own_name() const noexcept {
  return wake_up_.kind == Wake::signal ? static_cast<std::uint32_t>(gettid()) : some_thread;
}

[[gnu::hot]] void Sleeper::wait_near(Time until) noexcept {
  switch (wake_up_.kind) {
    case Wake::spin:  // a real-time spinner rests; nothing wakes it
      return os::sleep_until(std::min(until, os::now() + spinners_rest));
    case Wake::futex:
    case Wake::eventfd:
      return wait_word(until);
    case Wake::signal:
      return wait_signal(until);
  }
}

void Sleeper::wait_word(Time until) noexcept {
  const timespec end = os::to_timespec(until);
  // Not FUTEX_PRIVATE, because the waker is another process. Returns at once if the word has changed.
  syscall(SYS_futex, word_, FUTEX_WAIT_BITSET, name_, &end, nullptr, FUTEX_BITSET_MATCH_ANY);
}

void Sleeper::wait_event(Time until) noexcept {
  pollfd watched[] = {
      {wake_up_.event, POLLIN, 0}, {peer_->socket(), POLLRDHUP, 0}, {peer_->process_descriptor(), POLLIN, 0}};
  const timespec left = os::to_timespec(os::left_until(until));
  if (ppoll(watched, std::size(watched), &left, nullptr) > 0 && watched[0].revents != 0) drain();
}

// A packet stays in the socket until it is taken, so a packet that comes between the last check and the sleep ends the
// sleep.
void Sleeper::wait_far(Time until) noexcept {
  pollfd watched[] = {{wake_up_.socket, POLLIN | POLLRDHUP, 0}, {peer_->process_descriptor(), POLLIN, 0}};
  const timespec left = os::to_timespec(os::left_until(until));
  if (ppoll(watched, std::size(watched), &left, nullptr) > 0 && (watched[0].revents & POLLIN) != 0) take_packets();
}

// Takes the packets of wake-ups. A packet with descriptors stays in the socket: taking it out would mean closing them,
// which may take long.
void Sleeper::take_packets() noexcept {
  for (int i = 0; i < packets_at_once; ++i) {
    if (os::look_at_packet(wake_up_.socket) == os::NextPacket::with_descriptors) {
      misused_.store(true, std::memory_order_relaxed);  // relaxed: see was_misused()
      shutdown(wake_up_.socket, SHUT_RDWR);
      return;
    }
    char packet;
    if (recv(wake_up_.socket, &packet, sizeof packet, MSG_DONTWAIT) <= 0) return;
  }
}

// The signal is blocked for the wait, so that no handler gets it between the last check and the sleep.
void Sleeper::wait_signal(Time until) noexcept {
  sigset_t awaited, before;
  sigemptyset(&awaited);
  sigaddset(&awaited, wake_up_.signal);
  pthread_sigmask(SIG_BLOCK, &awaited, &before);
  const timespec left = os::to_timespec(os::left_until(until));
  // The signal may have come before it was blocked, and a handler got it. Then the word is 0.
  // relaxed: only whether the word is 0 counts, and the number in it is this thread's own
  if (SharedWord(*word_).load(std::memory_order_relaxed) != 0) sigtimedwait(&awaited, nullptr, &left);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Sleeper::drain() noexcept {
  if (!has_event()) return take_packets();
  std::uint64_t rings[64];  // from a pipe, one for each wake-up; what is left ends the next sleep early
  if (wake_up_.is_shared) return read_shared(wake_up_.event, &rings, sizeof rings);
  [[maybe_unused]] const auto got = read(wake_up_.event, &rings, sizeof rings);  // does not block
}

void Ringer::ring_descriptor() const noexcept { ring_event(wake_up_.event, wake_up_.is_shared); }

void Ringer::wake_at_word() const noexcept { syscall(SYS_futex, word_, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

[[gnu::hot]] void Ringer::wake() const noexcept {
  // PAIR bell.word: acquire and release here <-> Sleeper::announce() and withdraw().
  const std::uint32_t sleeper = SharedWord(*word_).exchange(0, std::memory_order_acq_rel);
  if (sleeper == 0) return;
  if ((sleeper & far_bit) != 0 && wake_up_.socket >= 0) {
    const char any = 0;
    send(wake_up_.socket, &any, sizeof any, MSG_DONTWAIT | MSG_NOSIGNAL);  // full: the thread is awake already
    return;
  }
  switch (wake_up_.kind) {
    case Wake::spin:
      return;
    case Wake::futex:
      return wake_at_word();
    case Wake::eventfd:
      return wake_up_.near_sleep && (sleeper & near_bit) != 0 ? wake_at_word() : ring_descriptor();
    case Wake::signal:
      // The number of a process that has ended may be another process's by now. The number of a thread is valid only in
      // its process.
      if (wake_up_.watch != nullptr && wake_up_.watch->is_gone()) return;
      syscall(SYS_tgkill, wake_up_.process, static_cast<pid_t>(sleeper & ~far_bit), wake_up_.signal);
      return;
  }
}

}  // namespace corelane::channel
