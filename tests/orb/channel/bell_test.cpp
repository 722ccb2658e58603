// Tests how one end sleeps at a word, and how the other end wakes it: bell.h, with a word in this process's own memory.
#include "orb/channel/bell.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <utility>

#include "orb/channel/peer_watch.h"
#include "orb/os/threads/thread_state.h"
#include "tests/support/await.h"
#include "tests/support/channel_pair.h"

namespace bell_test {

using namespace corelane;
using namespace corelane::channel;
using namespace corelane::testing;

namespace {

constexpr int woken_by = 43;
const auto before_handler = signal(woken_by, [](int) {});

constexpr std::uint32_t near_sleeper = some_thread | near_bit, far_sleeper = some_thread | far_bit;

bool is_readable(int descriptor) {
  pollfd asked{descriptor, POLLIN, 0};
  return poll(&asked, 1, 0) == 1 && (asked.revents & POLLIN) != 0;
}

// A word, and everything that can wake its sleeper.
struct Bell {
  std::uint32_t word = 0;
  os::Fd event{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  SocketPair sockets;
  PeerWatch peer{os::PeerSocket(std::move(sockets.near)), {}};

  WakeUp wake_up(Wake kind, bool near_sleep = false, bool has_socket = false) const {
    return {.kind = kind,
            .event = event.get(),
            .signal = woken_by,
            .process = getpid(),
            .socket = has_socket ? peer.socket() : -1,
            .near_sleep = near_sleep};
  }
  Sleeper sleeper(const WakeUp& wake_up) { return {word, wake_up, peer}; }
  // Returns the ringer of the other end, which has the other socket.
  Ringer ringer(WakeUp wake_up) {
    if (wake_up.socket >= 0) wake_up.socket = sockets.far.get();
    return {word, wake_up};
  }
  // Rings, and returns what the word holds afterwards.
  std::uint32_t ring_at(std::uint32_t sleeper, const WakeUp& wake_up) {
    word = sleeper;
    ringer(wake_up).ring();
    return word;
  }
  bool event_rang() const { return is_readable(event.get()); }
  bool packet_came() const { return is_readable(peer.socket()); }
};

// A sleep of another thread, which ends only by a wake-up.
class Asleep {
 public:
  // Returns once the thread sleeps.
  Asleep(Bell& bell, const WakeUp& wake_up, bool far) : bell_(&bell) {
    thread_ = std::jthread([this, wake_up, far] {
      Sleeper sleeper = bell_->sleeper(wake_up);
      const auto ready = [&] {
        announced_.store(gettid(), std::memory_order_release);
        return false;
      };
      far ? sleeper.sleep_far(never, ready) : sleeper.sleep_near(never, ready);
    });
    await("a thread sleeps", [&] { return os::is_asleep(announced_.load(std::memory_order_acquire)); });
  }
  void awake() { thread_.join(); }

 private:
  Bell* bell_;
  std::atomic<pid_t> announced_{0};
  std::jthread thread_;
};

struct SignalBlocked {
  sigset_t awaited, before;
  SignalBlocked() {
    sigemptyset(&awaited), sigaddset(&awaited, woken_by);
    pthread_sigmask(SIG_BLOCK, &awaited, &before);
  }
  ~SignalBlocked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  bool came() const {
    const timespec at_once{};
    return sigtimedwait(&awaited, nullptr, &at_once) == woken_by;
  }
};

}  // namespace

// ---- The ringer

TEST_CASE("a ringer wakes a near sleeper at its word and leaves the descriptor alone") {
  Bell bell;
  CHECK(bell.ring_at(near_sleeper, bell.wake_up(Wake::eventfd, true)) == 0);
  CHECK_FALSE(bell.event_rang());
}

TEST_CASE("a ringer rings the descriptor of a sleeper that does not sleep near") {
  Bell bell;
  CHECK(bell.ring_at(some_thread, bell.wake_up(Wake::eventfd, true)) == 0);
  CHECK(bell.event_rang());
}

TEST_CASE("a ringer rings the descriptor whatever the word holds when the ends have not agreed on near sleep") {
  Bell bell;
  CHECK(bell.ring_at(near_sleeper, bell.wake_up(Wake::eventfd, false)) == 0);
  CHECK(bell.event_rang());
}

TEST_CASE("a ringer wakes a far sleeper by a packet alone") {
  const Wake kind = GENERATE(Wake::futex, Wake::eventfd, Wake::signal);
  const SignalBlocked signal;
  Bell bell;
  CHECK(bell.ring_at(far_sleeper, bell.wake_up(kind, true, true)) == 0);
  CHECK(bell.packet_came());
  CHECK_FALSE(bell.event_rang());
  CHECK_FALSE(signal.came());
}

TEST_CASE("a ringer without a socket wakes a sleeper with far_bit as its kind says") {
  const SignalBlocked signal;
  Bell bell;
  CHECK(bell.ring_at(far_sleeper, bell.wake_up(Wake::eventfd)) == 0);
  CHECK(bell.event_rang());
  CHECK(bell.ring_at(static_cast<std::uint32_t>(gettid()) | far_bit, bell.wake_up(Wake::signal)) == 0);
  CHECK(signal.came());
  CHECK_FALSE(bell.packet_came());
}

TEST_CASE("a ringer sends the signal to the thread that the word names") {
  const SignalBlocked signal;
  Bell bell;
  CHECK(bell.ring_at(static_cast<std::uint32_t>(gettid()), bell.wake_up(Wake::signal)) == 0);
  CHECK(signal.came());
}

TEST_CASE("a ringer sends no signal to a process that is gone") {
  const SignalBlocked signal;
  Bell bell;
  WakeUp wake_up = bell.wake_up(Wake::signal);
  wake_up.watch = &bell.peer;
  bell.sockets.far.reset();
  CHECK(bell.ring_at(static_cast<std::uint32_t>(gettid()), wake_up) == 0);
  CHECK_FALSE(signal.came());
}

TEST_CASE("a ringer wakes no thread where none sleeps, and no spinner") {
  const SignalBlocked signal;
  Bell bell;
  CHECK(bell.ring_at(0, bell.wake_up(GENERATE(Wake::futex, Wake::eventfd, Wake::signal), true, true)) == 0);
  CHECK(bell.ring_at(some_thread, bell.wake_up(Wake::spin, true, true)) == some_thread);
  CHECK_FALSE(bell.event_rang());
  CHECK_FALSE(bell.packet_came());
  CHECK_FALSE(signal.came());
}

TEST_CASE("two rings cost one wake-up") {
  Bell bell;
  const WakeUp wake_up = bell.wake_up(Wake::eventfd);
  bell.ring_at(some_thread, wake_up);
  bell.ringer(wake_up).ring();
  std::uint64_t rings = 0;
  REQUIRE(read(bell.event.get(), &rings, sizeof rings) == sizeof rings);
  CHECK(rings == 1);
}

TEST_CASE("a ringer does not wait where the other end has filled a shared descriptor and made it one that blocks") {
  Bell bell;
  const std::uint64_t full = std::numeric_limits<std::uint64_t>::max() - 1;
  REQUIRE(write(bell.event.get(), &full, sizeof full) == sizeof full);
  REQUIRE(fcntl(bell.event.get(), F_SETFL, 0) == 0);
  CHECK(bell.ring_at(some_thread, bell.wake_up(Wake::eventfd)) == 0);
  CHECK(bell.event_rang());
}

// ---- The sleeper

TEST_CASE("a sleeper says in its word how it sleeps, and takes that back") {
  const auto [kind, near_word, far_word] = GENERATE(table<Wake, std::uint32_t, std::uint32_t>(
      {{Wake::futex, some_thread, far_sleeper}, {Wake::eventfd, near_sleeper, some_thread}}));
  Bell bell;
  Sleeper sleeper = bell.sleeper(bell.wake_up(kind, true, true));
  REQUIRE(sleeper.sleeps_near());
  REQUIRE(sleeper.sleeps_far());
  std::uint32_t seen = 0;
  const auto look = [&] { return seen = bell.word, true; };  // there is something, so it does not sleep
  sleeper.sleep_near(never, look);
  CHECK(seen == near_word);
  CHECK(bell.word == 0);
  sleeper.sleep_far(never, look);
  CHECK(seen == far_word);
  CHECK(bell.word == 0);
  sleeper.announce_watched();
  CHECK(bell.word == far_word);
  CHECK_FALSE(sleeper.withdraw());
  CHECK(bell.word == 0);
}

TEST_CASE("only ends that have agreed on it sleep near in place of a descriptor, and only those with a socket far") {
  Bell bell;
  CHECK_FALSE(bell.sleeper(bell.wake_up(Wake::eventfd)).sleeps_near());
  CHECK(bell.sleeper(bell.wake_up(Wake::eventfd)).sleeps_far());
  CHECK(bell.sleeper(bell.wake_up(Wake::futex)).sleeps_near());
  CHECK_FALSE(bell.sleeper(bell.wake_up(Wake::futex)).sleeps_far());
}

TEST_CASE("a ring between a sleeper's last look and its sleep ends the sleep") {
  const bool far = GENERATE(false, true);
  const Wake kind = GENERATE(Wake::futex, Wake::eventfd, Wake::signal);
  Bell bell;
  const WakeUp wake_up = bell.wake_up(kind, true, true);
  Sleeper sleeper = bell.sleeper(wake_up);
  const auto ring = [&] { return bell.ringer(wake_up).ring(), false; };
  far ? sleeper.sleep_far(never, ring) : sleeper.sleep_near(never, ring);
  CHECK(bell.word == 0);
  CHECK_FALSE(bell.event_rang());  // the sleeper has taken what woke it
  CHECK_FALSE(bell.packet_came());
}

TEST_CASE("a ring wakes a thread that sleeps") {
  const bool far = GENERATE(false, true);
  const Wake kind = GENERATE(Wake::futex, Wake::eventfd, Wake::signal);
  Bell bell;
  const WakeUp wake_up = bell.wake_up(kind, true, true);
  Asleep thread(bell, wake_up, far);
  bell.ringer(wake_up).ring();
  thread.awake();
  CHECK(bell.word == 0);
  CHECK_FALSE(bell.event_rang());
  CHECK_FALSE(bell.packet_came());
}

TEST_CASE("the peer's end wakes a thread that sleeps far") {
  const Wake kind = GENERATE(Wake::futex, Wake::eventfd, Wake::signal);
  Bell bell;
  Asleep thread(bell, bell.wake_up(kind, true, true), true);
  bell.sockets.far.reset();
  thread.awake();
  CHECK(bell.word == 0);
}

TEST_CASE("a sleeper that takes its name back is told whether the other end has rung") {
  Bell bell;
  const WakeUp wake_up = bell.wake_up(Wake::eventfd);
  Sleeper sleeper = bell.sleeper(wake_up);
  sleeper.announce_watched();
  CHECK_FALSE(sleeper.withdraw());
  sleeper.announce_watched();
  bell.ringer(wake_up).ring();
  CHECK(sleeper.withdraw());
  CHECK(bell.event_rang());
  sleeper.drain();
  CHECK_FALSE(bell.event_rang());
}

TEST_CASE("a sleeper is watched at its descriptor, else at the socket, else nowhere") {
  Bell bell;
  CHECK(bell.sleeper(bell.wake_up(Wake::eventfd, true, true)).descriptor() == bell.event.get());
  CHECK(bell.sleeper(bell.wake_up(Wake::futex, true, true)).descriptor() == bell.peer.socket());
  CHECK(bell.sleeper(bell.wake_up(Wake::futex)).descriptor() == -1);
  CHECK(bell.sleeper(bell.wake_up(Wake::signal, true, true)).descriptor() == -1);
}

}  // namespace bell_test
