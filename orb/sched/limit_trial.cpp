#include "orb/sched/limit_trial.h"

#include <algorithm>

namespace corelane::sched {
namespace {

constexpr double least_gain = 1.02;  // of a candidate; a smaller one is not worth a change
constexpr int votes_to_lose = 2;
constexpr double clear_loss = 1.3;    // by more than this factor, a candidate loses without further votes
constexpr int samples_to_change = 3;  // in a row, until another load is believed
constexpr double other_load = 1.5;    // the factor between two loads

}  // namespace

void LimitTrial::begin(int candidate) noexcept {
  candidate_ = candidate;
  for_ = against_ = 0;
  sum_of_limit_ = sum_of_candidate_ = {};
  turn_ = Turn::limit;
}

LimitTrial::Verdict LimitTrial::take(const ServantWindow& sample) noexcept {
  if (turn_ == Turn::limit) {
    of_limit_ = sample;
    turn_ = Turn::candidate;
    return Verdict::open;
  }
  if (is_clear_loss(sample)) return Verdict::loses;
  sum_of_limit_.add(of_limit_);
  sum_of_candidate_.add(sample);
  ++(sample.rate() > least_gain * of_limit_.rate() ? for_ : against_);
  turn_ = Turn::limit;
  if (against_ >= votes_to_lose) return Verdict::loses;
  if (for_ + against_ < votes) return Verdict::open;
  return wins() ? Verdict::wins : Verdict::loses;
}

bool LimitTrial::is_clear_loss(const ServantWindow& sample) const noexcept {
  const double expected = of_limit_.rate() * sample.seconds();
  const auto ended = static_cast<double>(sample.ended);
  return expected > clear_loss * ended && is_more_than_chance(expected, ended);
}

bool LimitTrial::wins() const noexcept {
  // How many servants would have ended with the limit in the time of the candidate.
  const double expected = sum_of_limit_.rate() * sum_of_candidate_.seconds();
  const auto ended = static_cast<double>(sum_of_candidate_.ended);
  return ended > least_gain * expected && is_more_than_chance(ended, expected);
}

void RestPeriod::begin(int samples) noexcept {
  left_ = samples;
  usual_ = {};
  changed_ = 0;
}

void RestPeriod::begin_longer() noexcept {
  length_ = std::min(2 * length_, longest);
  begin(length_);
}

bool RestPeriod::has_other_load(const ServantWindow& sample) noexcept {
  if (usual_.length == Duration::zero()) {
    usual_ = sample;
    return false;
  }
  const double scale = sample.seconds() / usual_.seconds();
  const double before = static_cast<double>(usual_.ended) * scale, now = static_cast<double>(sample.ended);
  const double more = std::max(before, now), less = std::min(before, now);
  changed_ = more > other_load * less && is_more_than_chance(more, less) ? changed_ + 1 : 0;
  if (changed_ < samples_to_change) return false;
  changed_ = 0;
  usual_ = sample;
  length_ = left_ = 1;
  return true;
}

bool RestPeriod::ends() noexcept {
  if (--left_ > 0) return false;
  left_ = 1;
  return true;
}

}  // namespace corelane::sched
