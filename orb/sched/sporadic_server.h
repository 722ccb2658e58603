// SporadicServer: at most C of execution per T, and what was used returns T after it became usable. Corrected after
// Stanovic, Baker, Wang & Harbour 2010: the POSIX rule gives budget back too early when an activation uses the rests of
// several replenishments, and so delays others by more than a task (C, T) could.
//
// The budget is a queue of chunks (at, b): b becomes usable at `at`, one unit after the other. Think of C tokens, each
// with the instant from which it may be spent, at least one unit apart; a chunk is a run of them. Then the rule is:
//   charge(u)   u times: the first token leaves and comes back T later. Used too early (an overrun) it comes back just
//               so, and what is left stays where it was: the debt is paid by waiting, to the last unit.
//   wake(now)   token i moves to now + i where it was earlier: budget does not age while there is no work.
// Invariants: chunks are ordered and do not overlap (at + b <= next at); their budgets sum to C; from the first token
// to the last it is less than T. The number of chunks is bounded: when the queue is full, what comes back joins the
// last chunk, which moves later for it. So a server with fewer chunks is only ever slower.
//
// To those below it the server is a task (C, T) without jitter. It may still use more than C in some window of length T
// when others above it delayed the beginning; so may a task.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "orb/sched/reservation.h"
#include "orb/sched/response_time.h"

namespace corelane::sched {

struct Chunk {
  Time at;
  Duration budget;

  friend constexpr bool operator==(const Chunk&, const Chunk&) = default;
};

class SporadicServer {
 public:
  static constexpr std::size_t most_chunks = 16;

  // Usable from `start` on. `reservation` is sound; 2 <= chunks <= most_chunks.
  explicit SporadicServer(const Reservation& reservation, Time start = {}, std::size_t chunks = most_chunks) noexcept;

  void wake(Time now) noexcept;
  void charge(Time now, Duration used) noexcept;  // bounded by the number of chunks
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
  std::array<Chunk, most_chunks> queue_{};  // the first count_ are in use; never none between two calls
  std::size_t count_ = 1;
};

// How the server bears on those that share its level or stand below.
inline Interference interference_of(const SporadicServer& server) noexcept {
  return {.budget = server.reservation().budget.count(), .period = server.reservation().period.count()};
}

}  // namespace corelane::sched
