// End::wait() is one wait of a channel's end with a given strategy. It ends when what the caller waits for came, when
// the channel ended, or at the deadline. It notices the peer's death within watch_slice in any case; the kernel reports
// it to a far sleeper.
//
// Thread: the waiter's. Inline, because it is the hot path of every synchronous read and write.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

#include "orb/channel/ends/end.h"
#include "orb/os/clock.h"
#include "orb/os/wait/wait_loop.h"

namespace corelane::channel {

inline constexpr std::chrono::milliseconds watch_slice{100};  // of a sleep, before the sleeper checks its peer
inline constexpr std::chrono::minutes far_slice{1};           // of a sleep that is told of the peer's end
inline constexpr int quick_looks = 256;                       // of a spinner, before it reads the clock
inline constexpr int looks_per_turn = 32;
inline constexpr unsigned turns_per_watch = 1024;  // of a spinner, about a millisecond

template <typename Probe, typename Try>
bool End::wait(Waiting& waiting, Time deadline, os::WaitStrategy how, Probe&& probe, Try&& done) noexcept {
  if (spins(how)) how.mode = os::WaitMode::spin;
  const auto look = [&](int looks) {
    for (int i = 1; i < looks; ++i, os::spin_pause())
      if (probe() && done()) return true;
    return done();
  };
  if (look(how.mode == os::WaitMode::spin ? quick_looks : 1)) return true;
  unsigned turns = 0;
  bool begins = true;
  const auto poll = [&] {
    if (++turns % turns_per_watch == 0) look_at_peer();
    return look(looks_per_turn);
  };
  const auto sleep = [&](Time until) {
    bool came = false;
    const auto ready = [&] { return came = done(); };
    const auto end = [&](Duration slice) { return std::min(until, os::now() + slice); };
    const auto look_around = [&] {
      if (came || ready()) return true;
      look_at_peer();
      return ready();
    };
    Sleeper& sleeper = waiting.sleeper;
    if (sleeper.sleeps_near() && (std::exchange(begins, false) || !sleeper.sleeps_far())) {
      sleeper.sleep_near(end(watch_slice), ready);
      if (look_around() || !sleeper.sleeps_far() || os::now() >= until) return came;
    }
    sleeper.sleep_far(end(far_slice), ready);
    return look_around();
  };
  const auto peer_core = [&] {
    return parts.watch.peer().process > 0 ? os::only_core_of(parts.watch.peer().process) : no_core;
  };
  // Bound: the deadline.
  while (!os::wait_for(deadline, how, waiting.learnt, poll, sleep, peer_core))
    if (os::now() >= deadline) return false;
  return true;
}

}  // namespace corelane::channel
