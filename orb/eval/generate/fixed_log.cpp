#include "orb/eval/generate/fixed_log.h"

#include <array>
#include <bit>
#include <cstddef>

namespace corelane::eval {
namespace {

constexpr std::uint64_t almost_one = UINT64_MAX;  // in units of 2^-64

constexpr std::uint64_t square_root(UnsignedWide x) noexcept {
  std::uint64_t root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const std::uint64_t candidate = root | std::uint64_t{1} << bit;
    if (UnsignedWide{candidate} * candidate <= x) root = candidate;
  }
  return root;
}

constexpr std::uint64_t times(std::uint64_t a, std::uint64_t b) noexcept {
  return static_cast<std::uint64_t>(UnsignedWide{a} * b >> 64);
}

// Element k is 2^-(2^-(k+1)) in units of 2^-64. Each is the square root of the one before it.
constexpr auto roots_of_half = [] {
  std::array<std::uint64_t, log_bits> roots{};
  UnsignedWide square = UnsignedWide{1} << 127;
  for (std::uint64_t& root : roots) {
    root = square_root(square);
    square = UnsignedWide{root} << 64;
  }
  return roots;
}();

}  // namespace

FixedLog log2_of(std::uint64_t x) noexcept {
  const int shift = std::countl_zero(x);
  std::uint64_t mantissa = x << shift;  // from 1 to 2, in units of 2^-63
  FixedLog log = static_cast<FixedLog>(63 - shift);
  for (int bit = 0; bit < log_bits; ++bit) {
    const UnsignedWide square = UnsignedWide{mantissa} * mantissa;
    const bool is_two = (square >> 127) != 0;
    mantissa = static_cast<std::uint64_t>(square >> (is_two ? 64 : 63));
    log = log << 1 | (is_two ? 1 : 0);
  }
  return log;
}

std::uint64_t two_to_minus(FixedLog x) noexcept {
  std::uint64_t power = almost_one;
  for (std::size_t k = 0; k < roots_of_half.size(); ++k)
    if ((x >> (log_bits - 1 - static_cast<int>(k)) & 1) != 0) power = times(power, roots_of_half[k]);
  const auto halvings = static_cast<int>(x >> log_bits);
  return halvings >= 64 ? 0 : power >> halvings;
}

std::uint64_t root_of(std::uint64_t fraction, std::uint64_t k) noexcept {
  const FixedLog minus_log = (FixedLog{64} << log_bits) - log2_of(fraction);
  return two_to_minus(minus_log / k);
}

}  // namespace corelane::eval
