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
// ServantSamples measures, and ServantStall and SoloRate remember what was measured (servant_samples.h). LimitTrial
// counts the votes, and RestPeriod the samples between two trials (limit_trial.h).
//
// Threads: one at a time. Pure: no clock, no allocation.
#pragma once

#include <cstdint>

#include "orb/base/time.h"
#include "orb/sched/limit_trial.h"
#include "orb/sched/servant_samples.h"

namespace corelane::sched {

// How many servants of requests without a contract may run in parallel.
struct ServantLimit {
  bool is_automatic = false;
  int most = 0;  // if not automatic; 0: as many as there are threads

  constexpr bool is_on() const noexcept { return is_automatic || most > 0; }
  friend constexpr bool operator==(const ServantLimit&, const ServantLimit&) = default;
};

class ConcurrencyControl {
 public:
  // How often the limit and a candidate are compared before a decision.
  static constexpr int votes = LimitTrial::votes;
  // The control gives the limit up if no servant has ended for four times the usual time of a servant, within these
  // bounds, because servants may then wait for each other.
  static constexpr Duration shortest_stall = ServantStall::shortest;
  static constexpr Duration longest_stall = ServantStall::longest;
  // A sample has at most so many windows, however long servants last.
  static constexpr int longest_sample = ServantSamples::longest;
  // A sample has at least so many windows, except while candidates are half or twice the limit: other differences are
  // small.
  static constexpr int careful_sample = 10;

  // `most`: the limit without any contention; at least 1.
  explicit ConcurrencyControl(int most) noexcept : most_(most), limit_(most) {}

  // Returns the limit for the window that begins now. Always from 1 to `most`.
  int limit() const noexcept { return trial_.tries_candidate() ? trial_.candidate() : limit_; }
  // Takes what was measured in the window that ends now, and decides about the next one.
  void take(const ServantWindow& window) noexcept;

  // Returns the limit that the control has decided for, whatever it tries at the moment.
  int decided() const noexcept { return limit_; }

 private:
  enum class Direction : std::uint8_t { down, up };

  // Returns whether the sample has what its use needs.
  bool is_complete() const noexcept;
  void use(const ServantWindow& sample) noexcept;
  void give_up() noexcept;
  void rest(const ServantWindow& sample) noexcept;
  // Begins a trial if there is a candidate in the direction.
  bool compare(Direction direction, const ServantWindow& sample) noexcept;
  int candidate_for(Direction direction, const ServantWindow& sample) const noexcept;
  void begin_trial(Direction direction, int candidate) noexcept;
  void judge(const ServantWindow& sample) noexcept;
  void win(const ServantWindow& sample) noexcept;
  void lose() noexcept;
  void begin_rest(int samples) noexcept;

  const int most_;
  int least_ = 1;  // below it servants have waited for each other
  int limit_;

  // Where candidates are looked for.
  bool is_coarse_ = true;   // far from the limit
  bool is_far_ = false;     // the candidate is the least limit
  bool lost_once_ = false;  // in the other direction
  Direction direction_ = Direction::down;

  ServantSamples samples_;
  ServantStall stall_;
  SoloRate solo_;
  LimitTrial trial_;  // if it is not on, the control rests
  RestPeriod rest_;
};

}  // namespace corelane::sched
