#include "orb/eval/scenario.h"

#include "orb/sched/ticks.h"

namespace corelane::eval {

std::string decimal(Fraction fraction) {
  std::string digits = std::to_string(unity.millionths + fraction.millionths % unity.millionths).substr(1);
  digits.erase(digits.find_last_not_of('0') + 1);
  return std::to_string(fraction.millionths / unity.millionths) + (digits.empty() ? "" : "." + digits);
}

Duration part_of(Duration duration, Fraction fraction) noexcept {
  return Duration{static_cast<std::int64_t>(sched::Wide{duration.count()} * fraction.millionths / unity.millionths)};
}

}  // namespace corelane::eval
