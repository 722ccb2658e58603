// LimitTrial compares the present limit of servants in parallel with another one, the candidate, in spite of noise.
// RestPeriod says how long the limit is used between two trials. ConcurrencyControl uses both (concurrency_control.h).
//
// Threads: one at a time. Pure: no clock, no allocation.
#pragma once

#include <cstdint>

#include "orb/sched/servant_samples.h"

namespace corelane::sched {

// LimitTrial takes samples with the limit and with the candidate in turn. Each pair is a vote.
class LimitTrial {
 public:
  // How often both are compared before a decision.
  static constexpr int votes = 7;

  enum class Verdict : std::uint8_t { open, wins, loses };  // of the candidate

  // Begins a trial. The first sample is one with the limit.
  void begin(int candidate) noexcept;
  void end() noexcept { turn_ = Turn::none; }
  bool is_on() const noexcept { return turn_ != Turn::none; }
  // Returns whether the next sample is one with the candidate.
  bool tries_candidate() const noexcept { return turn_ == Turn::candidate; }

  // Takes the next sample of a trial that is on. The trial goes on until end(), whatever the verdict.
  Verdict take(const ServantWindow& sample) noexcept;
  // Returns whether the sample, one with the candidate, is so much worse that no further one is needed.
  bool is_clear_loss(const ServantWindow& sample) const noexcept;

  // Return values of the trial that is on, or else of the last one.
  int candidate() const noexcept { return candidate_; }
  const ServantWindow& last_of_limit() const noexcept { return of_limit_; }

 private:
  enum class Turn : std::uint8_t { none, limit, candidate };

  bool wins() const noexcept;

  Turn turn_ = Turn::none;
  int candidate_ = 0;
  int for_ = 0, against_ = 0;                          // votes
  ServantWindow of_limit_{};                           // the sample that the next one of the candidate is compared with
  ServantWindow sum_of_limit_{}, sum_of_candidate_{};  // over all votes
};

// RestPeriod counts the samples between two trials. It notices when the load has changed.
class RestPeriod {
 public:
  static constexpr int longest = 256;  // samples

  // Begins a rest of so many samples.
  void begin(int samples) noexcept;
  // Begins a rest that is twice as long as the last one of this kind.
  void begin_longer() noexcept;
  // From now on, begin_longer() doubles one sample.
  void forget_length() noexcept { length_ = 1; }
  // Returns whether the load has been another one than at the beginning of the rest for several samples. Then the rest
  // ends with this sample.
  bool has_other_load(const ServantWindow& sample) noexcept;
  // Counts a sample. Returns whether the rest is over, and so it is with each further sample.
  bool ends() noexcept;

 private:
  int length_ = 1;         // samples of the last rest of begin_longer()
  int left_ = 1;           // samples of this rest
  int changed_ = 0;        // samples in a row that differ from `usual_`
  ServantWindow usual_{};  // the first sample of this rest; length 0: none yet
};

}  // namespace corelane::sched
