#include "orb/cdr/long_double.h"

#include <bit>
#include <cstring>
#include <limits>

namespace corelane::cdr {
namespace {

using Limits = std::numeric_limits<long double>;
static_assert(Limits::radix == 2 && Limits::max_exponent == 16384, "a long double with 15 bits of exponent is needed");
static_assert(Limits::digits == 64 || Limits::digits == 113, "neither x87's long double nor binary128");
static_assert(native_order == ByteOrder::little, "the layout of x87's long double is taken for little endian");

// x87: a significand of 64 bits with an explicit integer bit, then exponent and sign.
struct Extended {
  std::uint64_t significand = 0;
  std::uint16_t sign_exponent = 0;
};
constexpr int dropped_bits = 112 - 63;  // fraction bits that x87 lacks
constexpr std::uint64_t integer_bit = std::uint64_t{1} << 63;
constexpr std::uint64_t dropped_mask = (std::uint64_t{1} << dropped_bits) - 1;

Binary128 widened(Extended x) noexcept {
  const std::uint64_t fraction = x.significand & ~integer_bit;
  // A pseudo-denormal has exponent 0 and the integer bit. Its value is that of exponent 1.
  const bool pseudo = (x.sign_exponent & 0x7fff) == 0 && x.significand != fraction;
  const std::uint64_t sign_exponent = static_cast<std::uint64_t>(x.sign_exponent) + (pseudo ? 1U : 0U);
  return {sign_exponent << 48 | fraction >> (64 - dropped_bits), fraction << dropped_bits};
}

bool is_nan(Binary128 bits) noexcept {
  const std::uint64_t exponent = bits.high >> 48 & 0x7fff;
  return exponent == 0x7fff && ((bits.high & 0xffff'ffff'ffff) != 0 || bits.low != 0);
}

// Rounds to nearest, ties to even. A carry out of the fraction increments the exponent, which the encoding allows for.
Extended narrowed(Binary128 bits) noexcept {
  std::uint64_t fraction = (bits.high & 0xffff'ffff'ffff) << (63 - 48) | bits.low >> dropped_bits;
  auto sign_exponent = static_cast<std::uint16_t>(bits.high >> 48);
  if (is_nan(bits)) return {integer_bit | integer_bit >> 1 | fraction, sign_exponent};
  const std::uint64_t dropped = bits.low & dropped_mask;
  const std::uint64_t half = std::uint64_t{1} << (dropped_bits - 1);
  if (dropped > half || (dropped == half && (fraction & 1) != 0)) ++fraction;
  if (fraction == integer_bit) {
    fraction = 0;
    ++sign_exponent;
  }
  const bool normal = (sign_exponent & 0x7fff) != 0;
  return {fraction | (normal ? integer_bit : 0), sign_exponent};
}

}  // namespace

Binary128 to_binary128(long double value) noexcept {
  if constexpr (Limits::digits == 64) {
    Extended x;
    std::memcpy(&x.significand, &value, 8);
    std::memcpy(&x.sign_exponent, reinterpret_cast<const char*>(&value) + 8, 2);
    return widened(x);
  } else {
    Binary128 bits;
    std::memcpy(&bits.low, &value, 8);
    std::memcpy(&bits.high, reinterpret_cast<const char*>(&value) + 8, 8);
    return bits;
  }
}

long double from_binary128(Binary128 bits) noexcept {
  long double value = 0;
  if constexpr (Limits::digits == 64) {
    const Extended x = narrowed(bits);
    std::memcpy(&value, &x.significand, 8);
    std::memcpy(reinterpret_cast<char*>(&value) + 8, &x.sign_exponent, 2);
  } else {
    std::memcpy(&value, &bits.low, 8);
    std::memcpy(reinterpret_cast<char*>(&value) + 8, &bits.high, 8);
  }
  return value;
}

}  // namespace corelane::cdr
