// RestWait says how long a sender waits for its peer with the rest of a long message (StreamSender). A slow peer must
// not delay the threads that send to it again and again, because they serve other peers, too. So after a wait in vain,
// nobody waits for it for a hundred times as long.
//
// Threads: any, with the connection's mutex. A value, without a clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "orb/base/time.h"

namespace corelane::transport {

class RestWait {
 public:
  // How long a sender waits while the peer takes nothing, and in all. A peer that reads makes room within the time that
  // it needs to wake up.
  static constexpr std::chrono::microseconds longest_pause{500}, longest{2000};

  // Returns until when a sender that begins now may wait, `by` at the latest. Time{}: it may not wait.
  Time end(Time now, Time by) const noexcept {
    return now < again_ || by <= now ? Time{} : std::min(by, now + longest);
  }
  // Notes that a sender has waited since `begun`. `left` bytes of the rest are left. It was in vain if the peer made a
  // long pause, or took less than half of the rest.
  void note_end(Time begun, Time now, std::size_t rest, std::size_t left, bool paused) noexcept {
    if (paused || left > rest / 2) again_ = now + 100 * (now - begun);
  }

 private:
  Time again_{};  // until then nobody waits
};

}  // namespace corelane::transport
