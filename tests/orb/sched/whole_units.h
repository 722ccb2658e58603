// Time in whole units, for tests with the numbers of papers: at(3), units(2), reservation(2, 10).
#pragma once

#include <cstdint>

#include "orb/base/time.h"
#include "orb/sched/servers/reservation.h"

namespace corelane::sched::testing {

constexpr Time at(std::int64_t t) { return Time{Duration{t}}; }
constexpr Duration units(std::int64_t n) { return Duration{n}; }
constexpr Reservation reservation(std::int64_t budget, std::int64_t period) {
  return {.budget = Duration{budget}, .period = Duration{period}};
}

}  // namespace corelane::sched::testing
