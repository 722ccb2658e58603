// How an end sleeps for the other, and how the other wakes it: the sleep words of layout.h.
//
// The waiter says in its word that it sleeps, looks once more for what it waits for, and only then sleeps. Whoever
// publishes looks at the word afterwards, and wakes the one whose name it takes out. Between its two steps each side
// has a full fence: so either the waiter sees what was published, or the publisher sees the waiter. tests/orb/channel/
// model_test.cpp goes through every order of these steps. The name is taken out with an exchange: a burst of messages
// costs one wake-up.
//
// If the waiter dies its word may stay: the publisher makes one vain system call. If the publisher dies between
// publishing and waking, the waiter sleeps on until its slice ends or the kernel tells it of the death; no wait is
// without a bound. What a hostile peer writes there costs wake-ups, and delays of its own channel.
//
// A thread first sleeps where waking costs least: at the word itself (a futex), or until a signal comes: sleep_near().
// The kernel does not tell it of the peer's end there, so it looks at the peer after a while. Then it goes on to sleep
// where the kernel tells it that, too: sleep_far(). With Wake::eventfd that is its descriptor. Otherwise it is the
// channel's socket: the word then has far_bit, and a packet wakes. An end with Wake::eventfd sleeps near only if the
// other end knows near sleep (WakeUp::near_sleep); the word then has near_bit.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "orb/base/time.h"
#include "orb/channel/shared_word.h"

namespace corelane::channel {

class PeerWatch;

// How an end wants to be woken. The numbers are the ABI's.
enum class Wake : std::uint32_t {
  spin = 0,     // never sleeps: publishing then costs neither a fence nor a look at the word
  futex = 1,    // of the shared kind, on the word itself
  eventfd = 2,  // 8 bytes to a descriptor that this end gave: an eventfd or a pipe, which can be watched beside others;
                // needs both ends to be of one user
  signal = 3,   // sent to the sleeping thread
};

// How one end is woken for one reason: all that the waiter and the publisher have to agree on.
struct WakeUp {
  Wake kind = Wake::futex;
  int event = -1;                    // the descriptor: the waiter reads it, the publisher writes it
  bool is_shared = true;             // the other end has it, too, and may make it one that blocks
  int signal = 0;                    // Wake::signal
  pid_t process = 0;                 // whose thread a signal goes to
  const PeerWatch* watch = nullptr;  // of that process; null: this one
  int socket = -1;                   // where a far sleeper is woken; -1: there are none
  bool near_sleep = false;           // Wake::eventfd: a near sleeper is woken at the word, as with Wake::futex
};

// The value of a sleep word while a thread sleeps whose number the waker does not need. No thread has this number, or
// one with the bits below.
inline constexpr std::uint32_t some_thread = 0x2000'0000;
// The thread sleeps at the socket.
inline constexpr std::uint32_t far_bit = 0x8000'0000;
// The thread sleeps at the word, with Wake::eventfd.
inline constexpr std::uint32_t near_bit = 0x4000'0000;

// Thread: waiter.
class Sleeper {
 public:
  // `peer`: whose end ends a far sleep, and one on an eventfd; outlives the sleeper.
  Sleeper(std::uint32_t& word, WakeUp wake_up, const PeerWatch& peer) noexcept
      : word_(&word), wake_up_(wake_up), peer_(&peer) {}

  // Sleeps until woken or `until`, unless `ready` says that there is nothing to wait for. May end early. Only if
  // sleeps_near().
  template <typename Ready>
  void sleep_near(Time until, Ready&& ready) noexcept {
    announce(has_event() ? near_bit : 0);
    if (!ready()) wait_near(until);
    withdraw();
  }
  bool sleeps_near() const noexcept { return !has_event() || wake_up_.near_sleep; }
  // The same, and ends with the peer, too. Only if sleeps_far(); at the socket by one thread at a time of all that use
  // that socket.
  template <typename Ready>
  void sleep_far(Time until, Ready&& ready) noexcept {
    announce(has_event() ? 0 : far_bit);
    if (!ready()) has_event() ? wait_event(until) : wait_far(until);
    withdraw();
  }
  bool sleeps_far() const noexcept { return has_event() || wake_up_.socket >= 0; }

  // What is readable once it was woken after announce_watched(); -1: there is none.
  int descriptor() const noexcept {
    return has_event() ? wake_up_.event : wake_up_.kind == Wake::futex ? wake_up_.socket : -1;
  }

  // The two halves, for those who sleep elsewhere, on that descriptor. After announce() look once more.
  void announce_watched() noexcept { announce(has_event() || descriptor() < 0 ? 0 : far_bit); }
  void announce(std::uint32_t how = 0) noexcept {
    // seq_cst: the waiter's fence of the file's head. The exchange is one on every machine that this runs on, and a
    // fence by the standard's words together with the one that follows.
    // PAIR bell.word: release here -> acquire in Ringer::wake().
    SharedWord(*word_).exchange(name_ = own_name() | how, std::memory_order_acq_rel);
    std::atomic_thread_fence(std::memory_order_seq_cst);  // seq_cst: see above
  }
  // Whether somebody has rung, or is about to.
  bool withdraw() noexcept {
    // PAIR bell.word: acquire here <- release in Ringer::wake().
    return SharedWord(*word_).exchange(0, std::memory_order_acq_rel) == 0;
  }
  // Takes back what the descriptor was rung.
  void drain() noexcept;
  // The other end sent what no correct end sends; its socket is shut. Thread: any.
  bool was_misused() const noexcept {
    // relaxed: a report, stored before the socket is shut, which is what makes anybody ask
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
  std::uint32_t name_ = 0;  // that was announced, as in the word
  std::atomic<bool> misused_{false};
};

// Thread: any.
class Ringer {
 public:
  Ringer(std::uint32_t& word, WakeUp wake_up) noexcept : word_(&word), wake_up_(wake_up) {}

  // After publishing: wakes the waiter if it sleeps. A system call if it does, none otherwise.
  void ring() const noexcept {
    if (wake_up_.kind == Wake::spin) return;
    std::atomic_thread_fence(std::memory_order_seq_cst);  // seq_cst: the publisher's fence of the file's head
    // relaxed: the fence orders it behind what was published
    if (SharedWord(*word_).load(std::memory_order_relaxed) != 0) wake();
  }
  // Makes the descriptor readable, whether anybody sleeps or not.
  void ring_descriptor() const noexcept;

 private:
  void wake() const noexcept;
  void wake_at_word() const noexcept;

  std::uint32_t* word_;
  WakeUp wake_up_;
};

}  // namespace corelane::channel
