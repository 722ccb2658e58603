#include "orb/eval/generate/volume.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "orb/eval/generate/fixed_log.h"

namespace corelane::eval {

Volume volume_of(std::uint64_t value) noexcept {
  if (value == 0) return {};
  const int shift = std::countl_zero(value);
  return {value << shift, -shift};
}

Volume scaled(const Volume& volume, std::uint64_t factor) noexcept {
  const Volume other = volume_of(factor);
  if (volume.digits == 0 || other.digits == 0) return {};
  const UnsignedWide product = UnsignedWide{volume.digits} * other.digits;
  const int shift = (product >> 127) != 0 ? 64 : 63;
  return {static_cast<std::uint64_t>(product >> shift), volume.exponent + other.exponent + shift};
}

Volume sum_of(Volume a, Volume b) noexcept {
  if (a.digits == 0) return b;
  if (b.digits == 0) return a;
  if (a.exponent < b.exponent) std::swap(a, b);
  const int distance = a.exponent - b.exponent;
  const UnsignedWide sum = UnsignedWide{a.digits} + (distance < 64 ? b.digits >> distance : 0);
  if ((sum >> 64) == 0) return {static_cast<std::uint64_t>(sum), a.exponent};
  return {static_cast<std::uint64_t>(sum >> 1), a.exponent + 1};
}

bool is_less(const Volume& a, const Volume& b) noexcept {
  if (a.digits == 0 || b.digits == 0) return a.digits < b.digits;
  return a.exponent != b.exponent ? a.exponent < b.exponent : a.digits < b.digits;
}

std::uint64_t ratio_of(const Volume& part, const Volume& whole) noexcept {
  if (part.digits == 0) return 0;
  const int distance = whole.exponent - part.exponent;
  if (distance > 64) return 0;
  const UnsignedWide ratio = ((UnsignedWide{part.digits} << 64) / whole.digits) >> std::max(distance, 0);
  return static_cast<std::uint64_t>(std::min<UnsignedWide>(ratio, UINT64_MAX));
}

}  // namespace corelane::eval
