#include "orb/eval/scenario.h"

#include "orb/sched/ticks.h"

namespace corelane::eval {

Duration part_of(Duration duration, Fraction fraction) noexcept {
  return Duration{static_cast<std::int64_t>(sched::Wide{duration.count()} * fraction.millionths / unity.millionths)};
}

}  // namespace corelane::eval
