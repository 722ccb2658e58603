// IDL::Fixed<digits, scale> is the C++ type of IDL's fixed. IDL to C++11, 6.14.
//
// The type of an arithmetic result follows IDL's rules (IDL 4.2, 7.4.1.4.3), with at most 31 digits: digits after the
// point are cut first. A value that does not fit raises DATA_CONVERSION, and so does division by zero.
// Threads: a value type.
#pragma once

#include "orb/base/language.h"

#include <algorithm>
#include <compare>
#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <string>

#include "orb/any/desc_of.h"
#include "orb/cdr/decimal.h"
#include "orb/corba/traits.h"
#include "orb/core/exception.h"

namespace corelane::core {

inline cdr::Decimal checked(const Expected<cdr::Decimal>& value) {
  if (!value) raise(value.error());
  return *value;
}

}  // namespace corelane::core

namespace IDL {

template <std::uint16_t digits, std::uint16_t scale>
requires(digits >= 1 && digits <= 31 && scale <= digits) class Fixed {
  using Decimal = ::corelane::cdr::Decimal;

 public:
  Fixed() : value_(Decimal().truncated(scale)) {}
  template <std::integral T>
  explicit Fixed(T value) : Fixed(of_integer(value)) {}
  template <std::floating_point T>
  explicit Fixed(T value) : Fixed(::corelane::core::checked(Decimal::of(static_cast<long double>(value), scale))) {}
  // Parses "-12.50", with or without a 'd' at the end.
  explicit Fixed(const std::string& text) : Fixed(::corelane::core::checked(Decimal::parse(text))) {}
  // Cuts off digits after the point that do not fit.
  explicit Fixed(const Decimal& value) : value_(::corelane::core::checked(value.fitted(digits, scale))) {}
  template <std::uint16_t d, std::uint16_t s>
  explicit Fixed(const Fixed<d, s>& other) : Fixed(other.decimal()) {}

  template <std::uint16_t d, std::uint16_t s>
  Fixed& operator=(const Fixed<d, s>& other) {
    return *this = Fixed(other);
  }

  static constexpr std::uint16_t fixed_digits() { return digits; }
  static constexpr std::uint16_t fixed_scale() { return scale; }
  const Decimal& decimal() const noexcept { return value_; }
  std::string to_string() const { return value_.to_string(); }
  explicit operator long double() const { return value_.to_long_double(); }
  explicit operator std::int64_t() const { return static_cast<std::int64_t>(value_.truncated(0).to_long_double()); }
  bool operator!() const { return value_ == Decimal(); }

  // Return the value with at most `places` digits after the point.
  Fixed round(std::uint16_t places) const { return Fixed(value_.rounded(std::min(places, scale))); }
  Fixed truncate(std::uint16_t places) const { return Fixed(value_.truncated(std::min(places, scale))); }

  Fixed operator+() const { return *this; }
  Fixed operator-() const { return Fixed(value_.negated()); }
  template <typename Other>
  Fixed& operator+=(const Other& other) {
    return *this = Fixed((*this + other).decimal());
  }
  template <typename Other>
  Fixed& operator-=(const Other& other) {
    return *this = Fixed((*this - other).decimal());
  }
  template <typename Other>
  Fixed& operator*=(const Other& other) {
    return *this = Fixed((*this * other).decimal());
  }
  template <typename Other>
  Fixed& operator/=(const Other& other) {
    return *this = Fixed((*this / other).decimal());
  }
  Fixed& operator++() { return *this += Fixed<1, 0>(1); }
  Fixed& operator--() { return *this -= Fixed<1, 0>(1); }
  Fixed operator++(int) {
    const Fixed before = *this;
    ++*this;
    return before;
  }
  Fixed operator--(int) {
    const Fixed before = *this;
    --*this;
    return before;
  }

 private:
  template <std::integral T>
  static Decimal of_integer(T value) {
    if constexpr (std::is_signed_v<T>)
      return Decimal::of(static_cast<std::int64_t>(value));
    else
      return Decimal::of(static_cast<std::uint64_t>(value));
  }

  Decimal value_;
};

// The type of a result with these digits and scale, cut to 31 digits.
template <int digits, int scale>
using FixedOf = Fixed<static_cast<std::uint16_t>(std::min(digits, 31)),
                      static_cast<std::uint16_t>(std::max(0, scale - std::max(0, digits - 31)))>;

template <std::uint16_t d1, std::uint16_t s1, std::uint16_t d2, std::uint16_t s2>
auto operator+(const Fixed<d1, s1>& a, const Fixed<d2, s2>& b) {
  constexpr int scale = std::max(s1, s2), before = std::max(d1 - s1, d2 - s2) + 1;
  return FixedOf<before + scale, scale>(::corelane::core::checked(sum(a.decimal(), b.decimal())));
}
template <std::uint16_t d1, std::uint16_t s1, std::uint16_t d2, std::uint16_t s2>
auto operator-(const Fixed<d1, s1>& a, const Fixed<d2, s2>& b) {
  return a + -b;
}
template <std::uint16_t d1, std::uint16_t s1, std::uint16_t d2, std::uint16_t s2>
auto operator*(const Fixed<d1, s1>& a, const Fixed<d2, s2>& b) {
  return FixedOf<d1 + d2, s1 + s2>(::corelane::core::checked(product(a.decimal(), b.decimal())));
}
// The result has as many digits after the point as fit.
template <std::uint16_t d1, std::uint16_t s1, std::uint16_t d2, std::uint16_t s2>
auto operator/(const Fixed<d1, s1>& a, const Fixed<d2, s2>& b) {
  constexpr int before = std::min(31, d1 - s1 + s2);
  return FixedOf<31, 31 - before>(::corelane::core::checked(quotient(a.decimal(), b.decimal())));
}

template <std::uint16_t d1, std::uint16_t s1, std::uint16_t d2, std::uint16_t s2>
std::strong_ordering operator<=>(const Fixed<d1, s1>& a, const Fixed<d2, s2>& b) {
  return a.decimal() <=> b.decimal();
}
template <std::uint16_t d1, std::uint16_t s1, std::uint16_t d2, std::uint16_t s2>
bool operator==(const Fixed<d1, s1>& a, const Fixed<d2, s2>& b) {
  return a.decimal() == b.decimal();
}

template <std::uint16_t digits, std::uint16_t scale>
void encode(::corelane::cdr::Writer& writer, const Fixed<digits, scale>& value) {
  write_decimal(writer, value.decimal(), digits, scale);
}
template <std::uint16_t digits, std::uint16_t scale>
bool decode(::corelane::cdr::Reader& reader, Fixed<digits, scale>& value) {
  ::corelane::cdr::Decimal decimal;
  if (!read_decimal(reader, decimal, digits, scale)) return false;
  value = Fixed<digits, scale>(decimal);
  return true;
}

template <typename Stream, std::uint16_t digits, std::uint16_t scale>
requires std::derived_from<Stream, std::ostream> Stream& operator<<(Stream& out, const Fixed<digits, scale>& value) {
  out << value.to_string();
  return out;
}

template <std::uint16_t d, std::uint16_t s>
struct traits<Fixed<d, s>> : value_traits<Fixed<d, s>> {
  using digits = std::integral_constant<std::uint16_t, d>;
  using scale = std::integral_constant<std::uint16_t, s>;
};

}  // namespace IDL

namespace corelane::any {

template <std::uint16_t digits, std::uint16_t scale>
inline constexpr TypeDesc fixed_desc{.kind = Kind::fixed, .digits = digits, .scale = scale};
template <std::uint16_t digits, std::uint16_t scale>
inline constexpr const TypeDesc* desc_of<::IDL::Fixed<digits, scale>> = &fixed_desc<digits, scale>;

}  // namespace corelane::any
