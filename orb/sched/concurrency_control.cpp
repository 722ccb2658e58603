#include "orb/sched/concurrency_control.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace corelane::sched {
namespace {

constexpr double coarse_step = 2, fine_step = 1.25;
constexpr double least_gain = 1.02;     // of a candidate; a smaller one is not worth a change
constexpr double least_parallel = 1.5;  // with fewer servants at a time, a lower limit changes nothing
constexpr int votes_to_lose = 2;
constexpr double clear_loss = 1.3;  // by more than this factor, a candidate loses without further votes
constexpr int servant_times_to_stall = 4;
constexpr int longest_rest = 256;     // samples
constexpr int samples_to_change = 3;  // in a row, until another load is believed
constexpr double other_load = 1.5;    // the factor between two loads

int rounded(double number) noexcept { return static_cast<int>(std::lround(number)); }
double seconds_of(Duration time) noexcept { return std::chrono::duration<double>(time).count(); }

// Returns whether the larger number of events in equal times is due to more than chance: three standard deviations, if
// events are independent.
bool is_more_than_chance(double more, double less) noexcept { return more - less > 3 * std::sqrt(more + less); }

}  // namespace

double ServantWindow::parallel() const noexcept {
  return length > Duration::zero() ? seconds_of(in_servants) / seconds_of(length) : 0;
}

void ServantWindow::add(const ServantWindow& next) noexcept {
  length += next.length;
  in_servants += next.in_servants;
  ended += next.ended;
  full += next.full;
}

double ServantWindow::rate() const noexcept {
  return length > Duration::zero() ? static_cast<double>(ended) / seconds_of(length) : 0;
}

void ConcurrencyControl::take(const ServantWindow& window) noexcept {
  if (is_stalled(window)) return give_up();
  sample_.add(window);
  ++windows_;
  if (!is_complete() && !is_clear_loss(sample_)) return;
  const ServantWindow sample = std::exchange(sample_, {});
  if (sample.ended > 0) servant_time_ = sample.in_servants / static_cast<std::int64_t>(sample.ended);
  windows_ = 0;
  if (std::exchange(is_unsettled_, false)) return;
  const int before = limit();
  use(sample);
  if (limit() == before) return;
  is_unsettled_ = true;
  ran_before_ = rounded(sample.parallel());
}

bool ConcurrencyControl::is_complete() const noexcept {
  // No longest time while servants of the other limit run: if none of them ends, is_stalled() notices.
  if (is_unsettled_) return sample_.ended >= static_cast<std::uint64_t>(ran_before_);
  const int shortest = is_coarse_ && !is_far_ ? 1 : careful_sample;
  const bool has_enough = sample_.ended >= static_cast<std::uint64_t>(rounded(sample_.parallel()));
  return (has_enough && windows_ >= shortest) || windows_ >= longest_sample;
}

bool ConcurrencyControl::is_clear_loss(const ServantWindow& sample) const noexcept {
  if (phase_ != Phase::candidate || is_unsettled_) return false;
  const double expected = base_.rate() * seconds_of(sample.length);
  const auto ended = static_cast<double>(sample.ended);
  return expected > clear_loss * ended && is_more_than_chance(expected, ended);
}

void ConcurrencyControl::use(const ServantWindow& sample) noexcept {
  switch (phase_) {
    case Phase::rests:
      return rest(sample);
    case Phase::limit:
      base_ = sample;
      phase_ = Phase::candidate;
      return;
    case Phase::candidate:
      return vote(sample);
  }
}

// Servants that wait for a request behind the limit never end.
bool ConcurrencyControl::is_stalled(const ServantWindow& window) noexcept {
  const bool stands = limit() < most_ && window.ended == 0 && window.full > Duration::zero();
  stalled_ = stands ? stalled_ + window.length : Duration::zero();
  return stands && stalled_ >= std::clamp(servant_times_to_stall * servant_time_, shortest_stall, longest_stall);
}

void ConcurrencyControl::give_up() noexcept {
  least_ = std::min(limit() + 1, most_);
  limit_ = most_;
  stalled_ = {};
  is_unsettled_ = true;
  ran_before_ = 0;
  sample_ = {};
  windows_ = 0;
  begin_rest(longest_rest);
}

void ConcurrencyControl::rest(const ServantWindow& window) noexcept {
  if (has_changed(window)) {
    is_coarse_ = true;
    alone_ = 0;
    pause_ = left_ = 1;
  }
  if (alone_ > 0 && --alone_left_ <= 0) {  // that sample may have been disturbed
    is_coarse_ = true;
    alone_ = 0;
  }
  if (--left_ > 0) return;
  left_ = 1;  // until there is a candidate
  lost_once_ = false;
  if (!compare(direction_, window))
    (void)compare(direction_ == Direction::down ? Direction::up : Direction::down, window);
}

bool ConcurrencyControl::has_changed(const ServantWindow& window) noexcept {
  if (usual_.length == Duration::zero()) {
    usual_ = window;
    return false;
  }
  const double scale = seconds_of(window.length) / seconds_of(usual_.length);
  const double before = static_cast<double>(usual_.ended) * scale, now = static_cast<double>(window.ended);
  const double more = std::max(before, now), less = std::min(before, now);
  changed_ = more > other_load * less && is_more_than_chance(more, less) ? changed_ + 1 : 0;
  if (changed_ < samples_to_change) return false;
  changed_ = 0;
  usual_ = window;
  return true;
}

bool ConcurrencyControl::compare(Direction direction, const ServantWindow& window) noexcept {
  const int candidate = candidate_for(direction, window);
  if (candidate == limit_) return false;
  is_far_ = false;
  begin_votes(direction, candidate);
  return true;
}

void ConcurrencyControl::begin_votes(Direction direction, int candidate) noexcept {
  direction_ = direction;
  candidate_ = candidate;
  for_ = against_ = 0;
  base_sum_ = candidate_sum_ = {};
  phase_ = Phase::limit;
}

// Returns the limit itself if there is none.
int ConcurrencyControl::candidate_for(Direction direction, const ServantWindow& window) const noexcept {
  const double step = is_coarse_ ? coarse_step : fine_step;
  if (direction == Direction::up) {
    if (2 * window.full < window.length) return limit_;  // more than the limit would not run
    return std::min(most_, std::max(limit_ + 1, static_cast<int>(limit_ * step)));
  }
  const double parallel = window.parallel();
  if (parallel < least_parallel) return limit_;
  const int now = std::min(limit_, rounded(parallel));
  const int lower = std::min(limit_, std::max(least_, std::min(now - 1, static_cast<int>(now / step))));
  const bool cannot_win = alone_ > 0 && lower * alone_ < window.rate();
  return cannot_win ? limit_ : lower;
}

void ConcurrencyControl::vote(const ServantWindow& window) noexcept {
  if (candidate_ == 1) alone_ = window.rate(), alone_left_ = longest_rest;
  if (is_clear_loss(window)) return lose();
  base_sum_.add(base_);
  candidate_sum_.add(window);
  ++(window.rate() > least_gain * base_.rate() ? for_ : against_);
  phase_ = Phase::limit;
  if (against_ >= votes_to_lose) return lose();
  if (for_ + against_ < votes) return;
  wins() ? win(window) : lose();
}

bool ConcurrencyControl::wins() const noexcept {
  // How many servants would have ended with the limit in the time of the candidate.
  const double base = base_sum_.rate() * seconds_of(candidate_sum_.length);
  const auto ended = static_cast<double>(candidate_sum_.ended);
  return ended > least_gain * base && is_more_than_chance(ended, base);
}

void ConcurrencyControl::win(const ServantWindow& window) noexcept {
  limit_ = candidate_;
  lost_once_ = false;
  begin_rest(1);
  pause_ = 1;
  (void)compare(is_far_ ? Direction::up : direction_, window);
}

void ConcurrencyControl::lose() noexcept {
  const Direction other = direction_ == Direction::down ? Direction::up : Direction::down;
  if (!std::exchange(lost_once_, true) && compare(other, base_)) return;
  const int half = candidate_for(Direction::down, base_);
  if (is_coarse_ && least_ < half && half < limit_ && !std::exchange(is_far_, true))
    return begin_votes(Direction::down, least_);
  is_far_ = false;
  if (std::exchange(is_coarse_, false)) return begin_rest(1);
  pause_ = std::min(2 * pause_, longest_rest);
  begin_rest(pause_);
}

void ConcurrencyControl::begin_rest(int samples) noexcept {
  phase_ = Phase::rests;
  left_ = samples;
  usual_ = {};
  changed_ = 0;
}

}  // namespace corelane::sched
