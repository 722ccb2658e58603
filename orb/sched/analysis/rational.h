// Rational is a non-negative fraction that never rounds down. It is exact, in lowest terms, while numerator and
// denominator fit in 127 bits. Beyond that both are halved, the numerator rounded up and the denominator rounded down.
// The value is then an upper bound with a relative error below 2^-50. Use it for tests of the form "x <= bound", where
// a value that is too large is safe.
//
// Threads: a value type.
#pragma once

#include <algorithm>
#include <utility>

#include "orb/sched/ticks.h"

namespace corelane::sched {

class Rational {
 public:
  // numerator >= 0, denominator > 0.
  explicit constexpr Rational(Ticks numerator = 0, Ticks denominator = 1) noexcept
      : numerator_(numerator), denominator_(denominator) {
    reduce();
  }

  constexpr Rational& operator*=(Rational factor) noexcept {
    Wide numerator = 0;
    Wide denominator = 0;
    while (!infinite_ && (__builtin_mul_overflow(numerator_, factor.numerator_, &numerator) ||
                          __builtin_mul_overflow(denominator_, factor.denominator_, &denominator)))
      denominator_ > factor.denominator_ ? halve() : take_half_of(factor);  // at most 2 * 127 rounds
    return infinite_ ? *this : set(numerator, denominator);
  }

  constexpr Rational& operator+=(Rational term) noexcept {
    Wide left = 0;
    Wide right = 0;
    Wide sum = 0;
    Wide denominator = 0;
    while (!infinite_ && (__builtin_mul_overflow(numerator_, term.denominator_, &left) ||
                          __builtin_mul_overflow(term.numerator_, denominator_, &right) ||
                          __builtin_add_overflow(left, right, &sum) ||
                          __builtin_mul_overflow(denominator_, term.denominator_, &denominator)))
      denominator_ > term.denominator_ ? halve() : take_half_of(term);  // at most 2 * 127 rounds
    return infinite_ ? *this : set(sum, denominator);
  }

  // Returns whether the value is at most `bound`, 0 <= bound < 2^31.
  constexpr bool at_most(Ticks bound) const noexcept {
    // Compares the integer part, so that nothing overflows.
    if (infinite_) return false;
    const Wide whole = numerator_ / denominator_;
    return whole < bound || (whole == bound && numerator_ % denominator_ == 0);
  }

 private:
  constexpr void halve() noexcept {
    numerator_ = numerator_ / 2 + numerator_ % 2;
    denominator_ /= 2;
    infinite_ = denominator_ == 0;
  }
  constexpr void take_half_of(Rational& other) noexcept {
    other.halve();
    infinite_ = infinite_ || other.infinite_;
  }
  constexpr Rational& set(Wide numerator, Wide denominator) noexcept {
    numerator_ = numerator;
    denominator_ = denominator;
    return reduce(), *this;
  }
  constexpr void reduce() noexcept {
    Wide a = numerator_;
    Wide b = denominator_;
    while (b != 0) a = std::exchange(b, a % b);  // Euclid: at most ~185 steps
    numerator_ /= a;
    denominator_ /= a;
  }

  Wide numerator_;
  Wide denominator_;
  bool infinite_ = false;
};

}  // namespace corelane::sched
