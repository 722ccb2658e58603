// Decimal is the arithmetic of IDL's fixed type and its binary-coded form. CORBA 3.3 part 2, 9.3.2.8; IDL 4.2, 7.4.1.
//
// A value has up to 31 digits, `scale` of them after the point. Operations work on 62 digits and cut the result to 31,
// as the standard requires. Digits after the point are cut first, by truncation. Threads: plain values.
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
  // Returns the nearest decimal with `scale` digits after the point. DATA_CONVERSION: not a finite number, or more than
  // 31 digits.
  static Expected<Decimal> of(long double value, int scale) noexcept;
  // Parses a text such as "-12.50", with or without a 'd' at the end. DATA_CONVERSION for anything else.
  static Expected<Decimal> parse(std::string_view text) noexcept;

  int scale() const noexcept { return scale_; }
  bool negative() const noexcept { return negative_; }
  // Returns the number of digits without leading zeros, at least the scale and at least 1.
  int digits() const noexcept;
  // Returns the digit of weight 10^(place - scale); 0 beyond the value.
  int digit(int place) const noexcept { return place < capacity ? digits_[static_cast<std::size_t>(place)] : 0; }

  // Return the value with exactly `scale` digits after the point; zeros are added as needed.
  Decimal truncated(int scale) const noexcept;
  Decimal rounded(int scale) const noexcept;  // half away from zero
  Decimal negated() const noexcept;
  // Returns the value truncated to `scale`. DATA_CONVERSION if it has more than digits - scale digits before the point.
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
  using Digits = std::array<std::uint8_t, capacity>;  // least significant first

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

// fixed<digits, scale> on the wire: half octets, followed by the sign (0xc; 0xd for negative values). 1 <= digits <=
// 31.
void write_decimal(Writer& writer, const Decimal& value, int digits, int scale);
bool read_decimal(Reader& reader, Decimal& value, int digits, int scale) noexcept;

}  // namespace corelane::cdr
