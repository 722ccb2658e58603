// Decimal: the arithmetic behind IDL's fixed type, and its binary-coded form. CORBA 3.3 part 2, 9.3.2.8;
// IDL 4.2, 7.4.1.
//
// A value of up to 31 digits, of which `scale` stand behind the point. Operations work on 62 digits and cut the result
// to the 31 that matter, as the standard asks; digits behind the point go first, by truncation. Threads: plain values.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "orb/base/expected.h"
#include "orb/cdr/reader.h"
#include "orb/cdr/writer.h"

namespace corelane::cdr {

class Decimal {
 public:
  static constexpr int most_digits = 31;

  constexpr Decimal() = default;
  static Decimal of(std::int64_t value) noexcept;
  static Decimal of(std::uint64_t value) noexcept;
  // The nearest decimal of `scale` digits behind the point. DATA_CONVERSION: no number, or beyond 31 digits.
  static Expected<Decimal> of(long double value, int scale) noexcept;
  // "-12.50", with or without a 'd' at the end. DATA_CONVERSION for anything else.
  static Expected<Decimal> parse(std::string_view text) noexcept;

  int scale() const noexcept { return scale_; }
  bool negative() const noexcept { return negative_; }
  // Digits without leading zeros, at least the scale.
  int digits() const noexcept;
  // The digit of weight 10^(place - scale); 0 beyond the value.
  int digit(int place) const noexcept { return place < capacity ? digits_[static_cast<std::size_t>(place)] : 0; }

  // With exactly `scale` digits behind the point; zeros are added as needed.
  Decimal truncated(int scale) const noexcept;
  Decimal rounded(int scale) const noexcept;  // half away from zero
  Decimal negated() const noexcept;
  // DATA_CONVERSION when more digits stand before the point than digits - scale.
  Expected<Decimal> fitted(int digits, int scale) const noexcept;

  std::string to_string() const;
  long double to_long_double() const;

  friend Expected<Decimal> sum(const Decimal& a, const Decimal& b) noexcept;
  friend Expected<Decimal> product(const Decimal& a, const Decimal& b) noexcept;
  friend Expected<Decimal> quotient(const Decimal& a, const Decimal& b) noexcept;  // by zero: DATA_CONVERSION
  friend std::strong_ordering operator<=>(const Decimal& a, const Decimal& b) noexcept;
  friend bool operator==(const Decimal& a, const Decimal& b) noexcept { return (a <=> b) == 0; }

 private:
  static constexpr int capacity = 64;
  using Digits = std::array<std::uint8_t, capacity>;  // least first

  static std::strong_ordering compare(const Digits& a, const Digits& b) noexcept;
  static void add(Digits& a, const Digits& b) noexcept;
  static void subtract(Digits& a, const Digits& b) noexcept;  // a >= b
  static int length(const Digits& digits) noexcept;
  static void shift(Digits& digits, int places) noexcept;  // times 10^places
  Decimal cut(int scale, bool round) const noexcept;
  static Expected<Decimal> limited(Decimal value) noexcept;

  Digits digits_{};
  int scale_ = 0;
  bool negative_ = false;
};

Expected<Decimal> sum(const Decimal& a, const Decimal& b) noexcept;
Expected<Decimal> product(const Decimal& a, const Decimal& b) noexcept;
Expected<Decimal> quotient(const Decimal& a, const Decimal& b) noexcept;

// fixed<digits, scale> on the wire: half octets, the sign (0xc, 0xd for negative ones) last. 1 <= digits <= 31.
void write_decimal(Writer& writer, const Decimal& value, int digits, int scale);
bool read_decimal(Reader& reader, Decimal& value, int digits, int scale) noexcept;

}  // namespace corelane::cdr
