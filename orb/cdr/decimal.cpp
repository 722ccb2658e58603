#include "orb/cdr/decimal.h"

#include <algorithm>
#include <cmath>

#include "orb/base/minor.h"

namespace corelane::cdr {
namespace {

constexpr Error cannot_convert{ErrorKind::data_conversion, Completion::no, 0};
constexpr std::uint8_t plus = 0xc, minus = 0xd;

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

Decimal Decimal::of(std::uint64_t value) noexcept {
  Decimal out;
  for (std::size_t i = 0; value != 0; ++i, value /= 10)  // bound: 20
    out.digits_[i] = static_cast<std::uint8_t>(value % 10);
  return out;
}

Decimal Decimal::of(std::int64_t value) noexcept {
  const auto bits = static_cast<std::uint64_t>(value);
  Decimal out = of(value < 0 ? std::uint64_t{0} - bits : bits);
  out.negative_ = value < 0;
  return out;
}

Expected<Decimal> Decimal::of(long double value, int scale) noexcept {
  if (!std::isfinite(value)) return cannot_convert;
  long double left = std::round(std::fabs(value) * std::pow(10.0L, static_cast<long double>(scale)));
  Decimal out;
  out.scale_ = scale;
  out.negative_ = value < 0;
  for (std::size_t i = 0; left >= 1; ++i) {
    if (i == most_digits) return cannot_convert;
    out.digits_[i] = static_cast<std::uint8_t>(std::fmod(left, 10.0L));
    left = std::floor(left / 10);
  }
  return out;
}

Expected<Decimal> Decimal::parse(std::string_view text) noexcept {
  Decimal out;
  if (text.ends_with('d') || text.ends_with('D')) text.remove_suffix(1);
  if (text.starts_with('-') || text.starts_with('+')) {
    out.negative_ = text.front() == '-';
    text.remove_prefix(1);
  }
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view behind = text.substr(std::min(point + 1, text.size()));
  std::string_view before = text.substr(0, point);
  if (before.empty() && behind.empty()) return cannot_convert;
  if (!std::ranges::all_of(before, is_digit) || !std::ranges::all_of(behind, is_digit)) return cannot_convert;
  before.remove_prefix(std::min(before.find_first_not_of('0'), before.size()));
  if (before.size() + behind.size() > most_digits) return cannot_convert;
  std::size_t place = before.size() + behind.size();
  for (const std::string_view part : {before, behind})
    for (const char c : part) out.digits_[--place] = static_cast<std::uint8_t>(c - '0');
  out.scale_ = static_cast<int>(behind.size());
  return out;
}

int Decimal::length(const Digits& digits) noexcept {
  int count = capacity;
  while (count > 0 && digits[static_cast<std::size_t>(count - 1)] == 0) --count;
  return count;
}

int Decimal::digits() const noexcept { return std::max({length(digits_), scale_, 1}); }

std::strong_ordering Decimal::compare(const Digits& a, const Digits& b) noexcept {
  return std::lexicographical_compare_three_way(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

void Decimal::add(Digits& a, const Digits& b) noexcept {
  int carry = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const int digit = a[i] + b[i] + carry;
    a[i] = static_cast<std::uint8_t>(digit % 10);
    carry = digit / 10;
  }
}

void Decimal::subtract(Digits& a, const Digits& b) noexcept {
  int borrow = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const int digit = a[i] - b[i] - borrow;
    borrow = digit < 0 ? 1 : 0;
    a[i] = static_cast<std::uint8_t>(digit + 10 * borrow);
  }
}

void Decimal::shift(Digits& digits, int places) noexcept {
  const int count = std::min(std::abs(places), capacity);
  if (places > 0) std::shift_right(digits.begin(), digits.end(), count);
  if (places > 0) std::fill_n(digits.begin(), count, std::uint8_t{0});
  if (places < 0) std::shift_left(digits.begin(), digits.end(), count);
  if (places < 0) std::fill_n(digits.end() - count, count, std::uint8_t{0});
}

Decimal Decimal::cut(int scale, bool round) const noexcept {
  Decimal out = *this;
  const int dropped = scale_ - scale;
  const bool up = round && dropped > 0 && digit(dropped - 1) >= 5;
  shift(out.digits_, -dropped);
  out.scale_ = scale;
  if (up) add(out.digits_, of(std::uint64_t{1}).digits_);
  if (length(out.digits_) == 0) out.negative_ = false;
  return out;
}

Decimal Decimal::truncated(int scale) const noexcept { return cut(scale, false); }
Decimal Decimal::rounded(int scale) const noexcept { return cut(scale, true); }

Decimal Decimal::negated() const noexcept {
  Decimal out = *this;
  out.negative_ = !negative_ && length(digits_) > 0;
  return out;
}

Expected<Decimal> Decimal::fitted(int digits, int scale) const noexcept {
  if (length(digits_) - scale_ > digits - scale) return cannot_convert;
  return truncated(scale);
}

// Cuts the value to 31 digits, first those after the point.
Expected<Decimal> Decimal::limited(Decimal value) noexcept {
  const int excess = value.digits() - most_digits;
  if (excess > value.scale_) return cannot_convert;
  if (excess > 0) value = value.truncated(value.scale_ - excess);
  if (length(value.digits_) == 0) value.negative_ = false;
  return value;
}

std::string Decimal::to_string() const {
  std::string out = negative_ ? "-" : "";
  for (int place = std::max(length(digits_), scale_ + 1) - 1; place >= 0; --place) {
    out += static_cast<char>('0' + digit(place));
    if (place == scale_ && scale_ > 0) out += '.';
  }
  return out;
}

long double Decimal::to_long_double() const { return std::stold(to_string()); }

Expected<Decimal> sum(const Decimal& a, const Decimal& b) noexcept {
  Decimal x = a.truncated(std::max(a.scale_, b.scale_)), y = b.truncated(std::max(a.scale_, b.scale_));
  if (x.negative_ == y.negative_) {
    Decimal::add(x.digits_, y.digits_);
    return Decimal::limited(x);
  }
  if (Decimal::compare(x.digits_, y.digits_) < 0) std::swap(x, y);
  Decimal::subtract(x.digits_, y.digits_);
  return Decimal::limited(x);
}

Expected<Decimal> product(const Decimal& a, const Decimal& b) noexcept {
  Decimal out;
  for (int i = Decimal::length(b.digits_) - 1; i >= 0; --i) {  // bound: 31
    Decimal::shift(out.digits_, 1);
    for (int n = b.digit(i); n > 0; --n) Decimal::add(out.digits_, a.digits_);
  }
  out.scale_ = a.scale_ + b.scale_;
  out.negative_ = a.negative_ != b.negative_;
  return Decimal::limited(out);
}

Expected<Decimal> quotient(const Decimal& a, const Decimal& b) noexcept {
  if (Decimal::length(b.digits_) == 0) return cannot_convert;
  // Extends the dividend to 62 digits, which gives as many digits after the point as possible.
  Decimal dividend = a;
  const int more = 2 * Decimal::most_digits - Decimal::length(a.digits_);
  Decimal::shift(dividend.digits_, more);
  Decimal out;
  Decimal::Digits rest{};
  for (int i = Decimal::capacity - 1; i >= 0; --i) {  // bound: 64 digits, 9 subtractions each
    Decimal::shift(rest, 1);
    rest[0] = dividend.digits_[static_cast<std::size_t>(i)];
    for (; Decimal::compare(rest, b.digits_) >= 0; ++out.digits_[static_cast<std::size_t>(i)])
      Decimal::subtract(rest, b.digits_);
  }
  out.scale_ = a.scale_ + more - b.scale_;
  out.negative_ = a.negative_ != b.negative_;
  if (out.scale_ > Decimal::most_digits) out = out.truncated(Decimal::most_digits);
  return Decimal::limited(out);
}

std::strong_ordering operator<=>(const Decimal& a, const Decimal& b) noexcept {
  const int scale = std::max(a.scale_, b.scale_);
  const Decimal x = a.truncated(scale), y = b.truncated(scale);
  if (x.negative_ != y.negative_) return x.negative_ ? std::strong_ordering::less : std::strong_ordering::greater;
  return x.negative_ ? Decimal::compare(y.digits_, x.digits_) : Decimal::compare(x.digits_, y.digits_);
}

void write_decimal(Writer& writer, const Decimal& value, int digits, int scale) {
  const auto fitted = value.fitted(digits, scale);
  if (!fitted) return writer.fail(ErrorKind::data_conversion, 0);
  int octet = 0;
  for (int place = digits - 1 + (digits + 1) % 2; place >= -1; --place) {  // with the sign, an even number of nibbles
    const int nibble = place < 0 ? (fitted->negative() ? minus : plus) : place < digits ? fitted->digit(place) : 0;
    octet = octet << 4 | nibble;
    if (place % 2 != 0) writer.write(static_cast<std::uint8_t>(octet & 0xff));
  }
}

bool read_decimal(Reader& reader, Decimal& value, int digits, int scale) noexcept {
  Bytes bytes;
  if (!reader.read_bytes(bytes, static_cast<std::size_t>(digits + 2) / 2)) return false;
  char text[Decimal::most_digits + 3];  // room for a padding digit, the point and the rest
  std::size_t length = 0;
  for (std::size_t i = 0; i < 2 * bytes.size() - 1; ++i) {
    const int nibble = static_cast<int>(bytes[i / 2]) >> (i % 2 == 0 ? 4 : 0) & 0xf;
    if (nibble > 9) return reader.fail(minor::bad_fixed);
    if (2 * bytes.size() - 1 - i == static_cast<std::size_t>(scale)) text[length++] = '.';
    text[length++] = static_cast<char>('0' + nibble);
  }
  const int sign = static_cast<int>(bytes.back()) & 0xf;
  const bool fits = digits % 2 == 1 || static_cast<int>(bytes.front()) >> 4 == 0;
  const auto parsed = Decimal::parse({text, length});
  if ((sign != plus && sign != minus) || !fits || !parsed) return reader.fail(minor::bad_fixed);
  value = sign == minus ? parsed->negated() : *parsed;
  return true;
}

}  // namespace corelane::cdr
