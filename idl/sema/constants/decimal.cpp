#include "idl/sema/constants/decimal.h"

#include <algorithm>
#include <string>

namespace corelane::idl {
namespace {

// Removes leading zeros. A magnitude is a text of digits without leading zeros; zero is empty.
std::string trimmed(std::string digits) {
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

bool less(const std::string& a, const std::string& b) { return a.size() != b.size() ? a.size() < b.size() : a < b; }

std::string add(std::string a, std::string b) {
  const std::size_t size = std::max(a.size(), b.size()) + 1;
  a.insert(0, size - a.size(), '0');
  b.insert(0, size - b.size(), '0');
  int carry = 0;
  for (std::size_t i = size; i-- > 0;) {
    const int digit = (a[i] - '0') + (b[i] - '0') + carry;
    a[i] = static_cast<char>('0' + digit % 10);
    carry = digit / 10;
  }
  return trimmed(std::move(a));
}

// Precondition: `a` is not less than `b`.
std::string subtract(std::string a, std::string b) {
  b.insert(0, a.size() - b.size(), '0');
  int borrow = 0;
  for (std::size_t i = a.size(); i-- > 0;) {
    const int digit = (a[i] - '0') - (b[i] - '0') - borrow;
    borrow = digit < 0 ? 1 : 0;
    a[i] = static_cast<char>('0' + digit + 10 * borrow);
  }
  return trimmed(std::move(a));
}

std::string multiply(const std::string& a, const std::string& b) {
  std::string result;
  for (const char digit : b) {
    if (!result.empty()) result += '0';
    for (char times = '0'; times < digit; ++times) result = add(std::move(result), a);
  }
  return result;
}

std::string divide(const std::string& a, const std::string& b) {
  std::string result;
  std::string rest;
  for (const char digit : a) {
    rest = trimmed(rest + digit);
    char times = '0';
    for (; !less(rest, b); ++times) rest = subtract(std::move(rest), b);  // bound: nine times
    result += times;
  }
  return trimmed(std::move(result));
}

// Returns the number digits * 10^-scale in its unique form; nothing if it does not fit.
std::optional<Decimal> made(std::string digits, std::size_t scale, bool negative) {
  digits = trimmed(std::move(digits));
  while (scale > 0 && !digits.empty() && (digits.back() == '0' || digits.size() > most_decimal_digits)) {
    digits.pop_back();
    --scale;
  }
  if (digits.empty()) return Decimal{.digits = "0"};
  if (digits.size() > most_decimal_digits) return std::nullopt;
  // 0.0001 has four digits after the point, so it needs at least four digits in total.
  if (scale > most_decimal_digits) return made(digits.substr(0, digits.size() - 1), scale - 1, negative);
  return Decimal{std::move(digits), static_cast<std::uint16_t>(scale), negative};
}

std::string magnitude(const Decimal& value) { return is_zero(value) ? std::string() : value.digits; }

}  // namespace

bool is_zero(const Decimal& value) { return value.digits == "0"; }

Decimal decimal_of(std::string_view text) {
  std::string digits(text);
  const std::size_t point = digits.find('.');
  if (point == std::string::npos) return made(std::move(digits), 0, false).value_or(Decimal{.digits = "0"});
  digits.erase(point, 1);
  const std::size_t scale = digits.size() - point;
  return made(std::move(digits), scale, false).value_or(Decimal{.digits = "0"});
}

std::optional<Decimal> sum(const Decimal& a, const Decimal& b) {
  const std::size_t scale = std::max(a.scale, b.scale);
  std::string left = magnitude(a);
  std::string right = magnitude(b);
  if (!left.empty()) left.append(scale - a.scale, '0');
  if (!right.empty()) right.append(scale - b.scale, '0');
  if (a.negative == b.negative) return made(add(std::move(left), std::move(right)), scale, a.negative);
  if (less(left, right)) return made(subtract(std::move(right), std::move(left)), scale, b.negative);
  return made(subtract(std::move(left), std::move(right)), scale, a.negative);
}

std::optional<Decimal> product(const Decimal& a, const Decimal& b) {
  return made(multiply(magnitude(a), magnitude(b)), std::size_t{a.scale} + b.scale, a.negative != b.negative);
}

std::optional<Decimal> quotient(const Decimal& a, const Decimal& b) {
  constexpr std::size_t extra = 2 * most_decimal_digits;  // fraction digits that are computed before truncation
  std::string numerator = magnitude(a);
  if (!numerator.empty()) numerator.append(extra + b.scale, '0');
  return made(divide(numerator, magnitude(b)), a.scale + extra, a.negative != b.negative);
}

Decimal negated(Decimal value) {
  value.negative = !value.negative && !is_zero(value);
  return value;
}

std::string spell(const Decimal& value) {
  std::string text = value.digits;
  if (text.size() <= value.scale) text.insert(0, value.scale + 1 - text.size(), '0');
  if (value.scale > 0) text.insert(text.size() - value.scale, 1, '.');
  return std::string(value.negative ? 1 : 0, '-').append(text);
}

}  // namespace corelane::idl
