// Volume is a number of 64 digits with an exponent of its own. Volumes of many dimensions, and numbers of combinations,
// are too different in size for fixed point. The results are the same on every machine.
//
// Threads: pure functions.
#pragma once

#include <cstdint>

namespace corelane::eval {

// digits * 2^exponent. The highest of the 64 digits is set, except for zero.
struct Volume {
  std::uint64_t digits = 0;
  int exponent = 0;
};

Volume volume_of(std::uint64_t value) noexcept;
// Return the product and the sum, rounded down to 64 digits.
Volume scaled(const Volume& volume, std::uint64_t factor) noexcept;
Volume sum_of(Volume a, Volume b) noexcept;
bool is_less(const Volume& a, const Volume& b) noexcept;
// Returns part / whole in units of 2^-64, at most 2^64 - 1. `part` is not larger than `whole`, which is not zero.
std::uint64_t ratio_of(const Volume& part, const Volume& whole) noexcept;

}  // namespace corelane::eval
