// Sleeper and Ringer are the two sides of a wake-up: an end of a channel sleeps until the other end wakes it. They use
// the sleep words of layout.h.
//
// The waiter announces in its word that it sleeps, checks once more for what it waits for, and only then sleeps. The
// publisher checks the word after publishing. It takes out the number that it finds there, and wakes that thread. Each
// side has a full fence between its two steps. So either the waiter sees what was published, or the publisher sees the
// waiter. tests/orb/channel/model_test.cpp goes through every order of these steps. The number is taken out with an
// exchange, so a burst of messages costs one wake-up.
//
// If the waiter dies, its word may stay set. Then the publisher makes one system call that wakes nobody. If the
// publisher dies between publishing and waking, the waiter sleeps until its slice ends or the kernel reports the death.
// No wait is unbounded. A hostile peer that writes the word causes wake-ups, and delays of its own channel.
//
// A thread first sleeps where waking costs least, see sleep_near(): at the word itself (a futex), or until a signal
// comes. There the kernel does not report the peer's end, so the thread checks the peer after a while. Then it sleeps
// where the kernel reports the peer's end, too, see sleep_far(). With Wake::eventfd that is its descriptor. Otherwise
// it is the channel's socket: the word then has far_bit, and a packet wakes the thread. An end with Wake::eventfd
// sleeps near only if the other end supports it (WakeUp::near_sleep). The word then has near_bit.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "orb/base/time.h"
#include "orb/channel/shared_word.h"

namespace corelane::channel {

class PeerWatch;

// How an end wants to be woken. The numbers are part of the ABI.
enum class Wake : std::uint32_t {
  spin = 0,   // never sleeps, so publishing costs neither a fence nor a check of the word
  futex = 1,  // a shared futex on the word itself
  // `eventfd`: the waker writes 8 bytes to a descriptor that this end gave. It is an eventfd or a pipe, so it can be
  // watched together with other descriptors. Both ends must belong to one user.
  eventfd = 2,
  signal = 3,  // sent to the sleeping thread
};

// How one end is woken for one reason. The waiter and the publisher have to agree on all of it.
struct WakeUp {
  Wake kind = Wake::futex;
  int event = -1;                    // the descriptor: the waiter reads it, the publisher writes it
  bool is_shared = true;             // the other end has it, too, and may make it blocking
  int signal = 0;                    // Wake::signal
  pid_t process = 0;                 // the process of the thread that gets the signal
  const PeerWatch* watch = nullptr;  // watches that process; null: it is this one
  int socket = -1;                   // where far sleep waits for packets; -1: there is no far sleep
  bool near_sleep = false;           // Wake::eventfd: a near sleeper is woken at the word, as with Wake::futex
};

// The value of a sleep word when the waker does not need the number of the sleeping thread. No thread has this number,
// or a number with the bits below.
inline constexpr std::uint32_t some_thread = 0x2000'0000;
// The thread sleeps at the socket.
inline constexpr std::uint32_t far_bit = 0x8000'0000;
// The thread sleeps at the word, with Wake::eventfd.
inline constexpr std::uint32_t near_bit = 0x4000'0000;

// Thread: waiter.
class Sleeper {
 public:
  // `peer` outlives the sleeper. The peer's end also ends a far sleep and a sleep on an eventfd.
  Sleeper(std::uint32_t& word, WakeUp wake_up, const PeerWatch& peer) noexcept
      : word_(&word), wake_up_(wake_up), peer_(&peer) {}

  // Sleeps until woken or `until`, unless `ready` says that there is nothing to wait for. May end early. Call it only
  // if sleeps_near().
  template <typename Ready>
  void sleep_near(Time until, Ready&& ready) noexcept {
    announce(has_event() ? near_bit : 0);
    if (!ready()) wait_near(until);
    withdraw();
  }
  bool sleeps_near() const noexcept { return !has_event() || wake_up_.near_sleep; }
  // Does the same, and also ends when the peer ends. Call it only if sleeps_far(). Of all threads that use the socket,
  // only one at a time may sleep there.
  template <typename Ready>
  void sleep_far(Time until, Ready&& ready) noexcept {
    announce(has_event() ? 0 : far_bit);
    if (!ready()) has_event() ? wait_event(until) : wait_far(until);
    withdraw();
  }
  bool sleeps_far() const noexcept { return has_event() || wake_up_.socket >= 0; }

  // Returns the descriptor that becomes readable by a wake-up after announce_watched(); -1: there is none.
  int descriptor() const noexcept {
    return has_event() ? wake_up_.event : wake_up_.kind == Wake::futex ? wake_up_.socket : -1;
  }

  // The two halves of a sleep, for callers that sleep elsewhere, on that descriptor. After announce() check once more
  // for what you wait for.
  void announce_watched() noexcept { announce(has_event() || descriptor() < 0 ? 0 : far_bit); }
  void announce(std::uint32_t how = 0) noexcept {
    // seq_cst: this is the waiter's fence that the head of this file describes. The exchange is a full fence on every
    // machine that this runs on. By the words of the standard, it is one together with the fence that follows.
    // PAIR bell.word: release here -> acquire in Ringer::wake().
    SharedWord(*word_).exchange(name_ = own_name() | how, std::memory_order_acq_rel);
    std::atomic_thread_fence(std::memory_order_seq_cst);  // seq_cst: see above
  }
  // Returns whether the other end has woken this one, or is about to.
  bool withdraw() noexcept {
    // PAIR bell.word: acquire here <- release in Ringer::wake().
    return SharedWord(*word_).exchange(0, std::memory_order_acq_rel) == 0;
  }
  // Reads what wake-ups have written to the descriptor.
  void drain() noexcept;
  // Returns whether the other end sent something that no correct end sends. The socket is then shut down. Thread: any.
  bool was_misused() const noexcept {
    // relaxed: this is a report; it is stored before the shutdown of the socket, and that is what makes anybody ask
    return misused_.load(std::memory_order_relaxed);
  }

 private:
  bool has_event() const noexcept { return wake_up_.kind == Wake::eventfd; }
  std::uint32_t own_name() const noexcept;
  void wait_near(Time until) noexcept;
  void wait_word(Time until) noexcept;
  void wait_event(Time until) noexcept;
  void wait_far(Time until) noexcept;
  void wait_signal(Time until) noexcept;
  void take_packets() noexcept;

  std::uint32_t* word_;
  WakeUp wake_up_;
  const PeerWatch* peer_;
  std::uint32_t name_ = 0;  // the value that was announced, as in the word
  std::atomic<bool> misused_{false};
};

// Thread: any.
class Ringer {
 public:
  Ringer(std::uint32_t& word, WakeUp wake_up) noexcept : word_(&word), wake_up_(wake_up) {}

  // Call it after publishing. Wakes the waiter if it sleeps. Makes a system call only in that case.
  void ring() const noexcept {
    if (wake_up_.kind == Wake::spin) return;
    std::atomic_thread_fence(std::memory_order_seq_cst);  // seq_cst: the publisher's fence of the file's head
    // relaxed: the fence orders this load after the store of what was published
    if (SharedWord(*word_).load(std::memory_order_relaxed) != 0) wake();
  }
  // Makes the descriptor readable, whether a thread sleeps or not.
  void ring_descriptor() const noexcept;
  // Returns whether the waiter sleeps now, as far as this thread sees.
  bool finds_sleeper() const noexcept {
    return SharedWord(*word_).load(std::memory_order_relaxed) != 0;  // relaxed: a hint
  }

 private:
  void wake() const noexcept;
  void wake_at_word() const noexcept;

  std::uint32_t* word_;
  WakeUp wake_up_;
};

}  // namespace corelane::channel
