#include "orb/dispatch/budgets/blocking_detector.h"

#include <algorithm>

namespace corelane::dispatch {

void BlockingDetector::ask() noexcept {
  delay_ = clock_.run_delay();
  age_ = 0;
}

Duration BlockingDetector::end(Duration missing) noexcept {
  ++age_;
  const bool left_alone = left_alone_ > 0;
  if (left_alone) --left_alone_;
  if (left_alone || missing < shortest) {
    if (left_alone ? left_alone_ == 0 : age_ >= longest_age) ask();
    return {};
  }
  const std::optional<Duration> before = delay_;
  ask();
  const Duration waited = before && delay_ ? missing - (*delay_ - *before) : Duration::zero();
  const bool blocked = waited >= shortest;
  pause_ = blocked ? 0 : std::clamp(2 * pause_, 1, longest_pause);
  left_alone_ = pause_;
  return blocked ? waited : Duration::zero();
}

}  // namespace corelane::dispatch
