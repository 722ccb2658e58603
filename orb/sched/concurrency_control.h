// ConcurrencyControl finds how many servants should run in parallel, so that they do not slow each other down at a lock
// (lock-contention-aware scheduling, Cui). It chooses the number n with the highest n (1 - p(n)), where p(n) is the
// share of the servants' time that they wait for each other while n of them run.
//
// A servant that takes the time T(1) alone and T(n) beside others waits for the share p(n) = 1 - T(1) / T(n): in a
// lock, in a spin, or for a cache line that another core has. Then n (1 - p(n)) = T(1) n / T(n). By Little's law n /
// T(n) is the number of servants that end in a unit of time, so this number is compared. T(1) need not be known.
//
// Measurements are noisy. So a limit is never judged by one sample:
//
//   rests ── now and then, and if the load changes ──▶ compares: samples with the limit, and with a candidate, in turn
//     ▲                                                  │ each pair votes
//     ├────── the candidate loses in both directions ────┤
//     │                                                  │ it wins nearly all votes, and by more than chance allows
//     └──────────────────────────────────────────────────┴──▶ migrates to the candidate, and compares the next one
//
// Trials cost little. A candidate that does much worse loses at once. A lower limit m is not tried if it cannot win: m
// servants end at most m times as often as one servant alone, and that is less than the present rate.
//
// A comparison uses samples of one or more windows. After a change of the limit, the control waits until as many
// servants have ended as ran before, since these began under the other limit. Then it measures until as many have ended
// as run. So servants that last for many windows are compared like short ones.
//
// The number only goes down if that is better, so a server without contention keeps its threads. If neither half nor
// twice the limit wins, a much lower limit may still be better. So the control tries the least limit once. If that
// wins, it compares higher limits next.
//
// The limit concerns requests without a contract only. Tasks that were admitted never count, and never wait for it.
//
// Threads: one at a time. Pure: no clock, no allocation.
#pragma once

#include <chrono>
#include <cstdint>

#include "orb/base/time.h"

namespace corelane::sched {

// How many servants of requests without a contract may run in parallel.
struct ServantLimit {
  bool is_automatic = false;
  int most = 0;  // if not automatic; 0: as many as there are threads

  constexpr bool is_on() const noexcept { return is_automatic || most > 0; }
  friend constexpr bool operator==(const ServantLimit&, const ServantLimit&) = default;
};

// The measurements of one window, under one limit.
struct ServantWindow {
  Duration length{};
  Duration in_servants{};   // of all servants together
  std::uint64_t ended = 0;  // servants
  Duration full{};          // for so long a request waited because the limit was reached

  double parallel() const noexcept;  // mean number of servants that ran
  double rate() const noexcept;      // servants that ended in a second
  void add(const ServantWindow& next) noexcept;
};

class ConcurrencyControl {
 public:
  // How often the limit and a candidate are compared before a decision.
  static constexpr int votes = 7;
  // The control gives the limit up if no servant has ended for four times the usual time of a servant, because servants
  // may then wait for each other. That time lies within these bounds. The upper one is for short servants beside a few
  // very long ones: without it they would wait for minutes.
  static constexpr Duration shortest_stall = std::chrono::milliseconds{200};
  static constexpr Duration longest_stall = std::chrono::seconds{3};
  // A sample has at most so many windows, however long servants last.
  static constexpr int longest_sample = 100;
  // A sample has at least so many, except while candidates are half or twice the limit: other differences are small.
  static constexpr int careful_sample = 10;

  // `most`: the limit without any contention; at least 1.
  explicit ConcurrencyControl(int most) noexcept : most_(most), limit_(most) {}

  // Returns the limit for the window that begins now. Always from 1 to `most`.
  int limit() const noexcept { return phase_ == Phase::candidate ? candidate_ : limit_; }
  // Takes what was measured in the window that ends now, and decides about the next one.
  void take(const ServantWindow& window) noexcept;

  // Returns the limit that the control has decided for, whatever it tries at the moment.
  int decided() const noexcept { return limit_; }

 private:
  enum class Phase : std::uint8_t { rests, limit, candidate };
  enum class Direction : std::uint8_t { down, up };

  bool is_stalled(const ServantWindow& window) noexcept;
  // Returns whether the sample has what its phase needs.
  bool is_complete() const noexcept;
  // Returns whether the sample of the candidate is so much worse that no further one is needed.
  bool is_clear_loss(const ServantWindow& sample) const noexcept;
  void use(const ServantWindow& sample) noexcept;
  void give_up() noexcept;
  void rest(const ServantWindow& window) noexcept;
  bool has_changed(const ServantWindow& window) noexcept;
  // Begins a comparison if there is a candidate in the direction.
  bool compare(Direction direction, const ServantWindow& window) noexcept;
  int candidate_for(Direction direction, const ServantWindow& window) const noexcept;
  // Begins to compare the limit with the candidate.
  void begin_votes(Direction direction, int candidate) noexcept;
  void vote(const ServantWindow& window) noexcept;
  bool wins() const noexcept;
  void win(const ServantWindow& window) noexcept;
  void lose() noexcept;
  void begin_rest(int samples) noexcept;

  const int most_;
  int least_ = 1;  // below it servants have waited for each other
  int limit_;
  Phase phase_ = Phase::rests;
  bool is_unsettled_ = false;  // servants that began under another limit may still run
  int ran_before_ = 0;         // servants that ran when the limit changed
  Duration stalled_{};         // no servant has ended for so long
  Duration servant_time_{};    // of the servants in the last sample; 0: unknown
  ServantWindow sample_{};     // the sum of its windows
  int windows_ = 0;            // of the sample

  // While it rests.
  int pause_ = 1;          // samples of the next rest
  int left_ = 1;           // samples of this rest
  int changed_ = 0;        // samples in a row that differ from `usual_`
  ServantWindow usual_{};  // the first sample of this rest; length 0: none yet

  // While it compares.
  bool is_coarse_ = true;   // candidates are far from the limit
  double alone_ = 0;        // servants that end in a second if one runs at a time; 0: unknown
  int alone_left_ = 0;      // samples of rests until that is measured again
  bool is_far_ = false;     // the candidate is the least limit
  bool lost_once_ = false;  // in the other direction
  Direction direction_ = Direction::down;
  int candidate_ = 0;
  int for_ = 0, against_ = 0;  // votes
  ServantWindow base_{};       // the sample of the limit that the next one of the candidate is compared with
  ServantWindow base_sum_{}, candidate_sum_{};  // over all votes
};

}  // namespace corelane::sched
