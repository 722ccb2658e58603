// What is measured of servants that run in parallel. A sample is one or more windows of time. ConcurrencyControl
// compares the samples of two limits (concurrency_control.h).
//
// Threads: one at a time. Pure: no clock, no allocation.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "orb/base/time.h"

namespace corelane::sched {

// The measurements of one window, under one limit.
struct ServantWindow {
  Duration length{};
  Duration in_servants{};   // of all servants together
  std::uint64_t ended = 0;  // servants
  Duration full{};          // for so long a request waited because the limit was reached

  double seconds() const noexcept;   // its length
  double parallel() const noexcept;  // mean number of servants that ran
  int running() const noexcept;      // the same, rounded
  double rate() const noexcept;      // servants that ended in a second
  void add(const ServantWindow& next) noexcept;
};

// Returns whether the larger number of events in equal times is due to more than chance: three standard deviations, if
// events are independent.
bool is_more_than_chance(double more, double less) noexcept;

// ServantSamples adds windows to samples. The first sample after a change of the limit is not used, because servants of
// the limit before run in it.
class ServantSamples {
 public:
  // A sample has at most so many windows, however long servants last.
  static constexpr int longest = 100;

  void add(const ServantWindow& window) noexcept;
  // Returns whether the sample is long enough, with at least `shortest` windows. As many servants must have ended in it
  // as run. After a change of the limit, as many must have ended as ran before.
  bool is_complete(int shortest) const noexcept;
  // Returns whether servants that began under another limit may still run.
  bool is_settling() const noexcept { return is_settling_; }
  // Returns the sum of the windows so far.
  const ServantWindow& sample() const noexcept { return sample_; }
  // Ends the sample, and begins the next one. Returns nothing if the sample is not used.
  std::optional<ServantWindow> end() noexcept;
  // The limit has changed: discards the sample, and begins one that is not used. `running`: servants that still run
  // under the limit before.
  void settle(int running) noexcept;
  // Returns how long a servant lasted in the last sample; 0: unknown.
  Duration servant_time() const noexcept { return servant_time_; }

 private:
  ServantWindow sample_{};
  int windows_ = 0;           // of the sample
  bool is_settling_ = false;  // the sample is not used
  int ran_before_ = 0;        // servants that ran when the limit changed
  Duration servant_time_{};
};

// ServantStall notices that no servant ends although requests wait behind a limit. Then the servants may wait for these
// requests, and would wait for ever.
class ServantStall {
 public:
  // Without an end of a servant for four times the usual time of a servant, they stall. That time lies within these
  // bounds. The upper one is for short servants beside a few very long ones: without it they would wait for minutes.
  static constexpr Duration shortest = std::chrono::milliseconds{200};
  static constexpr Duration longest = std::chrono::seconds{3};

  // Takes a window. Returns whether the servants stall, and then begins anew. `is_limited`: a limit was in force.
  // `servant_time`: the usual time of a servant.
  bool take(const ServantWindow& window, bool is_limited, Duration servant_time) noexcept;

 private:
  Duration stalled_{};  // no servant has ended for so long
};

// SoloRate is the number of servants that end in a second if one runs at a time. It is forgotten after a while, because
// its measurement may have been disturbed.
class SoloRate {
 public:
  void measure(const ServantWindow& sample) noexcept;
  void forget() noexcept { rate_ = 0; }
  // Counts a sample of a rest. Returns whether the rate is forgotten now.
  bool expires() noexcept;
  // Returns whether `servants` in parallel cannot reach the rate. They end at most so many times as often as one alone.
  bool excludes(int servants, double rate) const noexcept { return rate_ > 0 && servants * rate_ < rate; }

 private:
  double rate_ = 0;  // 0: unknown
  int left_ = 0;     // samples of rests until it is forgotten
};

}  // namespace corelane::sched
