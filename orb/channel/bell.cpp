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
#include "orb/os/passed_descriptors.h"

namespace corelane::channel {
namespace {

constexpr std::chrono::microseconds spinners_rest{100};
constexpr int packets_at_once = 16;  // that wake; a correct peer has one under way

bool is_ready(int fd, short what) noexcept {
  pollfd asked{fd, what, 0};
  return poll(&asked, 1, 0) == 1 && (asked.revents & what) != 0;
}

// Who has an eventfd, too, could clear its O_NONBLOCK, so it is asked for room first: full, it is readable already. Who
// fills it between that and the write blocks this end: a process of the same user, which may stop it anyway.
void ring_event(int event, bool is_shared) noexcept {
  if (is_shared && !is_ready(event, POLLOUT)) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto put = write(event, &one, sizeof one);
}

// Never waits, whoever clears O_NONBLOCK of an eventfd that both ends have: the call itself says so (Linux 5.10).
void read_shared(int event, void* bytes, std::size_t size) noexcept {
  const iovec part{bytes, size};
  if (preadv2(event, &part, 1, -1, RWF_NOWAIT) >= 0 || errno != EOPNOTSUPP || !is_ready(event, POLLIN)) return;
  [[maybe_unused]] const auto got = read(event, bytes, size);
}

}  // namespace

// Only a signal needs the thread's number. It is asked for each time: a remembered one would be the parent's after
// fork().
std::uint32_t Sleeper::own_name() const noexcept {
  return wake_up_.kind == Wake::signal ? static_cast<std::uint32_t>(gettid()) : some_thread;
}

void Sleeper::wait_near(Time until) noexcept {
  switch (wake_up_.kind) {
    case Wake::spin:  // a real-time spinner's rest; nobody rings
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
  // Not FUTEX_PRIVATE: the waker is another process. Returns at once when the word has changed.
  syscall(SYS_futex, word_, FUTEX_WAIT_BITSET, name_, &end, nullptr, FUTEX_BITSET_MATCH_ANY);
}

void Sleeper::wait_event(Time until) noexcept {
  pollfd watched[] = {
      {wake_up_.event, POLLIN, 0}, {peer_->socket(), POLLRDHUP, 0}, {peer_->process_descriptor(), POLLIN, 0}};
  const timespec left = os::to_timespec(os::left_until(until));
  if (ppoll(watched, std::size(watched), &left, nullptr) > 0 && watched[0].revents != 0) drain();
}

// A packet stays until it is taken, so one that comes between the last look and the sleep ends the sleep.
void Sleeper::wait_far(Time until) noexcept {
  pollfd watched[] = {{wake_up_.socket, POLLIN | POLLRDHUP, 0}, {peer_->process_descriptor(), POLLIN, 0}};
  const timespec left = os::to_timespec(os::left_until(until));
  if (ppoll(watched, std::size(watched), &left, nullptr) > 0 && (watched[0].revents & POLLIN) != 0) take_packets();
}

// One with descriptors stays where it is: whoever takes it out closes them, and that may take long.
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

// Blocked for the wait, so that it does not go to a handler between the last look and the sleep.
void Sleeper::wait_signal(Time until) noexcept {
  sigset_t awaited, before;
  sigemptyset(&awaited);
  sigaddset(&awaited, wake_up_.signal);
  pthread_sigmask(SIG_BLOCK, &awaited, &before);
  const timespec left = os::to_timespec(os::left_until(until));
  // It may have come before it was blocked, and gone to a handler; then its word is empty.
  // relaxed: only whether it is empty counts, and the name is this thread's own
  if (SharedWord(*word_).load(std::memory_order_relaxed) != 0) sigtimedwait(&awaited, nullptr, &left);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Sleeper::drain() noexcept {
  if (!has_event()) return take_packets();
  std::uint64_t rings[64];  // of a pipe each that came; what is left ends the next sleep early
  if (wake_up_.is_shared) return read_shared(wake_up_.event, &rings, sizeof rings);
  [[maybe_unused]] const auto got = read(wake_up_.event, &rings, sizeof rings);  // does not block
}

void Ringer::ring_descriptor() const noexcept { ring_event(wake_up_.event, wake_up_.is_shared); }

void Ringer::wake_at_word() const noexcept { syscall(SYS_futex, word_, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

void Ringer::wake() const noexcept {
  // PAIR bell.word: acquire and release here <-> Sleeper::announce() and withdraw().
  const std::uint32_t sleeper = SharedWord(*word_).exchange(0, std::memory_order_acq_rel);
  if (sleeper == 0) return;
  if ((sleeper & far_bit) != 0 && wake_up_.socket >= 0) {
    const char any = 0;
    send(wake_up_.socket, &any, sizeof any, MSG_DONTWAIT | MSG_NOSIGNAL);  // a full socket: it is awake already
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
      // The number of a process that is gone may be another's by now; that of a thread is one of that process or none.
      if (wake_up_.watch != nullptr && wake_up_.watch->is_gone()) return;
      syscall(SYS_tgkill, wake_up_.process, static_cast<pid_t>(sleeper & ~far_bit), wake_up_.signal);
      return;
  }
}

}  // namespace corelane::channel
