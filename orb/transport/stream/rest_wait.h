// RestWait says how long a sender waits until its peer takes the rest of a long message (StreamSender). A slow peer
// must not delay the threads that send to it again and again, because they serve other peers, too. So after a wait in
// vain, no sender waits for this peer until a hundred times the length of that wait has passed.
//
// Threads: any, with the connection's mutex. It reads no clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "orb/base/time.h"

namespace corelane::transport {

class RestWait {
 public:
  // A sender stops waiting when the peer has taken nothing for longest_pause, or when it has waited for `longest` in
  // all. A peer that reads takes something as soon as it has woken up, which is sooner than longest_pause.
  static constexpr std::chrono::microseconds longest_pause{500}, longest{2000};

  // Returns until when a sender that begins to wait now may wait, `by` at the latest. Time{}: it may not wait.
  Time end(Time now, Time by) const noexcept {
    return now < again_ || by <= now ? Time{} : std::min(by, now + longest);
  }
  // Notes that a sender has waited from `begun` to `now`. Of the `rest` bytes that it had to send, `left` are left.
  // `paused`: the peer has taken nothing for longest_pause. The wait was in vain if the peer paused, or if it took less
  // than half of the bytes.
  void note_end(Time begun, Time now, std::size_t rest, std::size_t left, bool paused) noexcept {
    if (paused || left > rest / 2) again_ = now + 100 * (now - begun);
  }

 private:
  Time again_{};  // until then nobody waits
};

}  // namespace corelane::transport
