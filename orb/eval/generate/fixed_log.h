// Logarithms and roots in fixed point. The generators of task sets use them instead of std::log2 and std::pow, because
// the last digit of those depends on the library. So a seed gives the same task set on every machine.
//
// Threads: pure functions.
//
// The folder orb/eval/generate draws random task sets. It uses integers only.
#pragma once

#include <cstdint>

namespace corelane::eval {

__extension__ using UnsignedWide = unsigned __int128;

// A logarithm to base 2, in units of 2^-57.
using FixedLog = std::uint64_t;
inline constexpr int log_bits = 57;

// Returns log2(x), rounded down. x > 0. Bound: 57 multiplications.
FixedLog log2_of(std::uint64_t x) noexcept;

// Returns 2^64 * 2^-x, at most 2^64 - 1. The result is at most 2^-56 of it too small. Bound: 57 multiplications.
std::uint64_t two_to_minus(FixedLog x) noexcept;

// Returns the k-th root of fraction / 2^64, in units of 2^-64. fraction > 0, k > 0.
std::uint64_t root_of(std::uint64_t fraction, std::uint64_t k) noexcept;

}  // namespace corelane::eval
