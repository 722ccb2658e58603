// AdmissionQueue: newcomers that wait until the manager looks at them. Their peers are served by turns: a newcomer gets
// the round after that of the last newcomer of its peer that waits, or after the round that is being served. Rounds are
// served in order, and the newcomers of a round in the order in which they came. So a peer of which nothing waits is
// served after two newcomers of each other peer at most, however many wait.
//
// If the queue is full one newcomer more turns the last one away: the newest of a peer of which most wait. So a peer of
// which nothing waits is turned away only where each newcomer in the queue is of another peer.
//
// What this process asks for is always in the next round.
//
// Threads: any. Guarded by a priority-inheriting mutex, under which nothing is allocated or freed. Bound of each
// function under it: `most`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "orb/base/ids.h"
#include "orb/dispatch/newcomer.h"
#include "orb/os/pi_mutex.h"

namespace corelane::dispatch {

class AdmissionQueue {
 public:
  static constexpr std::size_t most = 1024;

  AdmissionQueue() { waiting_.reserve(most); }

  // Takes the newcomer. The one that is turned away for it, which may be the same, is told TRANSIENT queue_full; false:
  // there was one. After close() the newcomer is told TRANSIENT shutting_down.
  bool push(NewcomerPtr newcomer) noexcept;
  // The one whose turn it is; null: nobody waits.
  NewcomerPtr pop() noexcept;
  bool empty() const noexcept;

  // Those of the peer, which is gone, are told so.
  void drop(PeerId peer) noexcept;
  // Newcomers that wait or come later are told TRANSIENT shutting_down.
  void close() noexcept;

 private:
  struct Place {
    std::uint64_t round;
    PeerId peer;
    NewcomerPtr newcomer;
  };
  std::uint64_t round_for(PeerId peer) const noexcept;
  NewcomerPtr insert(NewcomerPtr newcomer) noexcept;

  mutable os::PiMutex mutex_;
  // Guarded by mutex_.
  std::vector<Place> waiting_;  // whose turn is last comes first
  std::uint64_t served_ = 0;    // the latest round of which somebody was served
  bool closed_ = false;
};

}  // namespace corelane::dispatch
