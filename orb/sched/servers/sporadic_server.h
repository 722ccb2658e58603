// SporadicServer may execute at most C per T. What was used is replenished T after it became usable. The rule is
// corrected after Stanovic, Baker, Wang & Harbour 2010. The POSIX rule replenishes too early when an activation uses
// the rests of several replenishments. Others are then delayed by more than a task (C, T) could delay them.
//
// The budget is a queue of chunks (at, b): b becomes usable at `at`, one unit after the other. Imagine C tokens, each
// with the time from which it may be spent, at least one unit apart. A chunk is a run of tokens. The rule is:
//   charge(u)   u times: the first token is spent and is replenished T later. If it was spent too early
//               (an overrun), it is replenished by the same rule and the other tokens stay. So the
//               server pays the debt by waiting, to the last unit.
//   wake(now)   token i moves to now + i if it was earlier: budget does not accumulate while there is no work.
//
// Invariants: chunks are ordered and do not overlap (at + b <= next at). Their budgets sum to C. The first and the last
// token are less than T apart. The number of chunks is bounded: if the queue is full, a replenishment joins the last
// chunk, which then moves to a later time. So a server with fewer chunks can only be slower.
//
// To lower-priority tasks the server is a task (C, T) without jitter. It may use more than C in some window of length T
// if other tasks above it delayed its start. The same is true for a task.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "orb/sched/response_time.h"
#include "orb/sched/servers/reservation.h"

namespace corelane::sched {

struct Chunk {
  Time at;
  Duration budget;

  friend constexpr bool operator==(const Chunk&, const Chunk&) = default;
};

class SporadicServer {
 public:
  static constexpr std::size_t most_chunks = 16;

  // The budget is usable from `start` on. `reservation` is sound; 2 <= chunks <= most_chunks.
  explicit SporadicServer(const Reservation& reservation, Time start = {}, std::size_t chunks = most_chunks) noexcept;

  void wake(Time now) noexcept;
  void charge(Time now, Duration used) noexcept;  // Bound: the number of chunks
  Duration available(Time now) const noexcept;
  Time next(Time) const noexcept { return queue_[0].at; }

  const Reservation& reservation() const noexcept { return reservation_; }
  std::span<const Chunk> chunks() const noexcept { return std::span(queue_).first(count_); }

 private:
  void shift(Duration by) noexcept;
  void drop_front(std::size_t chunks) noexcept;
  void give_back(Chunk chunk) noexcept;

  Reservation reservation_;
  std::size_t limit_;
  std::array<Chunk, most_chunks> queue_{};  // the first count_ are in use; at least one between two calls
  std::size_t count_ = 1;
};

// Returns the interference of the server on tasks of the same or a lower level.
inline Interference interference_of(const SporadicServer& server) noexcept {
  return {.budget = server.reservation().budget.count(), .period = server.reservation().period.count()};
}

}  // namespace corelane::sched
