#include "orb/sched/concurrency_control.h"

#include <algorithm>
#include <utility>

namespace corelane::sched {
namespace {

constexpr double coarse_step = 2, fine_step = 1.25;
constexpr double least_parallel = 1.5;  // with fewer servants at a time, a lower limit changes nothing

}  // namespace

void ConcurrencyControl::take(const ServantWindow& window) noexcept {
  if (stall_.take(window, limit() < most_, samples_.servant_time())) return give_up();
  samples_.add(window);
  if (!is_complete()) return;
  const auto sample = samples_.end();
  if (!sample) return;
  const int before = limit();
  use(*sample);
  if (limit() != before) samples_.settle(sample->running());
}

bool ConcurrencyControl::is_complete() const noexcept {
  if (samples_.is_complete(is_coarse_ && !is_far_ ? 1 : careful_sample)) return true;
  return trial_.tries_candidate() && !samples_.is_settling() && trial_.is_clear_loss(samples_.sample());
}

void ConcurrencyControl::use(const ServantWindow& sample) noexcept { trial_.is_on() ? judge(sample) : rest(sample); }

// Servants that wait for a request behind the limit never end.
void ConcurrencyControl::give_up() noexcept {
  least_ = std::min(limit() + 1, most_);
  limit_ = most_;
  samples_.settle(0);
  begin_rest(RestPeriod::longest);
}

void ConcurrencyControl::rest(const ServantWindow& sample) noexcept {
  if (rest_.has_other_load(sample)) {
    is_coarse_ = true;
    solo_.forget();
  }
  if (solo_.expires()) is_coarse_ = true;
  if (!rest_.ends()) return;
  lost_once_ = false;
  if (!compare(direction_, sample))
    (void)compare(direction_ == Direction::down ? Direction::up : Direction::down, sample);
}

bool ConcurrencyControl::compare(Direction direction, const ServantWindow& sample) noexcept {
  const int candidate = candidate_for(direction, sample);
  if (candidate == limit_) return false;
  is_far_ = false;
  begin_trial(direction, candidate);
  return true;
}

void ConcurrencyControl::begin_trial(Direction direction, int candidate) noexcept {
  direction_ = direction;
  trial_.begin(candidate);
}

// Returns the limit itself if there is none.
int ConcurrencyControl::candidate_for(Direction direction, const ServantWindow& sample) const noexcept {
  const double step = is_coarse_ ? coarse_step : fine_step;
  if (direction == Direction::up) {
    if (2 * sample.full < sample.length) return limit_;  // more than the limit would not run
    return std::min(most_, std::max(limit_ + 1, static_cast<int>(limit_ * step)));
  }
  if (sample.parallel() < least_parallel) return limit_;
  const int now = std::min(limit_, sample.running());
  const int lower = std::min(limit_, std::max(least_, std::min(now - 1, static_cast<int>(now / step))));
  return solo_.excludes(lower, sample.rate()) ? limit_ : lower;
}

void ConcurrencyControl::judge(const ServantWindow& sample) noexcept {
  if (trial_.tries_candidate() && trial_.candidate() == 1) solo_.measure(sample);
  switch (trial_.take(sample)) {
    case LimitTrial::Verdict::open:
      return;
    case LimitTrial::Verdict::wins:
      return win(sample);
    case LimitTrial::Verdict::loses:
      return lose();
  }
}

void ConcurrencyControl::win(const ServantWindow& sample) noexcept {
  limit_ = trial_.candidate();
  lost_once_ = false;
  begin_rest(1);
  rest_.forget_length();
  (void)compare(is_far_ ? Direction::up : direction_, sample);
}

void ConcurrencyControl::lose() noexcept {
  const ServantWindow last = trial_.last_of_limit();
  const Direction other = direction_ == Direction::down ? Direction::up : Direction::down;
  if (!std::exchange(lost_once_, true) && compare(other, last)) return;
  const int half = candidate_for(Direction::down, last);
  if (is_coarse_ && least_ < half && half < limit_ && !std::exchange(is_far_, true))
    return begin_trial(Direction::down, least_);
  is_far_ = false;
  if (std::exchange(is_coarse_, false)) return begin_rest(1);
  trial_.end();
  rest_.begin_longer();
}

void ConcurrencyControl::begin_rest(int samples) noexcept {
  trial_.end();
  rest_.begin(samples);
}

}  // namespace corelane::sched
