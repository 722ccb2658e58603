// AdmissionQueue holds the admission requests (AdmissionCandidate) that wait for the manager. Peers are served in turn,
// and the more urgent request of those whose turn it is comes first. The urgency is that of the priorities: D - J.
//
// Each request is in a round, and a peer has about one request in each round. A new request gets the round after the
// last waiting request of its peer, or after the round being served. Then it overtakes the less urgent requests of its
// peer: it gets the earliest of their rounds, and each of them moves to the next round. Rounds are served in order, and
// the requests of one round in the order of their urgency; equally urgent ones in order of arrival. So a peer without a
// waiting request is served after at most two requests of each other peer, however many of those wait. A request is
// overtaken by at most `most_overtaking` later requests of its own peer.
//
// If the queue is full, a new request displaces the last request of the latest round. The peer of that request has
// about as many waiting requests as any other. A peer without a waiting request is rejected only if no other remote
// peer has more than two requests in the queue.
//
// Requests of this process are always in the next round, any number of them.
//
// Threads: any. Guarded by a priority-inheriting mutex; nothing is allocated or freed under it. Bound of each function
// under the mutex: `most`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/dispatch/admission/admission_candidate.h"
#include "orb/os/pi_mutex.h"

namespace corelane::dispatch {

class AdmissionQueue {
 public:
  static constexpr std::size_t most = 1024;
  static constexpr std::uint32_t most_overtaking = 16;

  AdmissionQueue() { waiting_.reserve(most); }

  // Adds the request. Returns false if a request was rejected to make room, perhaps the new one. The rejected request
  // fails with TRANSIENT queue_full. After close() the new request fails with TRANSIENT shutting_down.
  bool push(AdmissionCandidatePtr candidate) noexcept;
  // Removes and returns the next request to serve; null: none waits.
  AdmissionCandidatePtr pop() noexcept;
  bool empty() const noexcept;

  // Fails all requests of the peer, because its connection is gone (errors::task_gone).
  void drop(PeerId peer) noexcept;
  // Fails the waiting requests, and every later one, with TRANSIENT shutting_down.
  void close() noexcept;

 private:
  struct Place {
    std::uint64_t round;
    Duration urgency;       // D - J
    std::uint64_t arrival;  // counts the requests
    PeerId peer;
    std::uint32_t overtaken;  // how many later requests of its peer came before it
    AdmissionCandidatePtr candidate;
  };
  // Returns whether `a` is served before `b`.
  static bool is_before(const Place& a, const Place& b) noexcept;
  std::uint64_t take_round(PeerId peer, Duration urgency) noexcept CORELANE_REQUIRES(mutex_);
  AdmissionCandidatePtr insert(AdmissionCandidatePtr candidate) noexcept CORELANE_REQUIRES(mutex_);

  mutable os::PiMutex mutex_;
  std::vector<Place> waiting_ CORELANE_GUARDED_BY(mutex_);  // in no order
  std::uint64_t served_ CORELANE_GUARDED_BY(mutex_) = 0;    // the latest round of which a request was served
  std::uint64_t arrivals_ CORELANE_GUARDED_BY(mutex_) = 0;  // requests so far
  bool closed_ CORELANE_GUARDED_BY(mutex_) = false;
};

}  // namespace corelane::dispatch
