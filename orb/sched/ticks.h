// Ticks is the integer time of the analysis. The Manager counts nanoseconds. A test may count anything, because the
// theory has no unit. Arithmetic that could exceed 63 bits is checked; if it does, the result is the safe one.
#pragma once

#include <cstdint>

namespace corelane::sched {

using Ticks = std::int64_t;
__extension__ using Wide = __int128;  // products of two Ticks

inline constexpr Ticks endless = INT64_MAX;  // "no bound": a response time that does not exist

// Returns ceil(a / b) for a >= 0, b > 0.
constexpr Ticks ceil_div(Ticks a, Ticks b) noexcept { return a / b + (a % b != 0 ? 1 : 0); }

// Return a + b and a * b for non-negative operands, or `endless` if the result does not fit.
constexpr Ticks add_up(Ticks a, Ticks b) noexcept {
  Ticks sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? endless : sum;
}
constexpr Ticks multiply_up(Ticks a, Ticks b) noexcept {
  Ticks product = 0;
  return __builtin_mul_overflow(a, b, &product) ? endless : product;
}

}  // namespace corelane::sched
