#include "idl/front/lexer/literals.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "idl/ast/diagnostics.h"

namespace corelane::idl {
namespace {

constexpr std::string_view simple_escapes = "ntvbrfa\\?'\"";
constexpr std::string_view simple_values = "\n\t\v\b\r\f\a\\?'\"";

// Returns the fault for a text that is not a number. The most likely cause is a duration without quotes.
LiteralFault no_number(std::string_view text) {
  constexpr std::array<std::string_view, 4> units = {"ns", "us", "ms", "s"};
  const std::string_view unit = text.substr(std::min(text.find_first_not_of("0123456789."), text.size()));
  const bool is_whole = text.find('.') == text.npos;
  std::string message = quoted(text) + " is no number";
  if (std::ranges::find(units, unit) != units.end())
    message += is_whole ? "; a duration stands in quotes: \"" + std::string(text) + '"'
                        : "; a duration is a whole number and its unit, in quotes, such as \"1500us\"";
  return {message};
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

// Reads up to `most` digits of a base from the front of `rest`. Returns -1 if there are none.
int digits(std::string_view& rest, int base, int most) {
  int value = -1;
  for (int i = 0; i < most && !rest.empty() && digit_of(rest.front()) < base; ++i) {
    value = (value < 0 ? 0 : value * base) + digit_of(rest.front());
    rest.remove_prefix(1);
  }
  return value;
}

// Returns the value of an escape sequence, after its backslash.
Literal<std::uint32_t> escape(std::string_view& rest, bool wide) {
  if (rest.empty()) return LiteralFault{"a backslash stands before nothing"};
  const char kind = rest.front();
  if (const std::size_t at = simple_escapes.find(kind); at != std::string_view::npos) {
    rest.remove_prefix(1);
    return static_cast<unsigned char>(simple_values[at]);
  }
  int value = -1;
  if (kind == 'x' || (kind == 'u' && wide)) {
    rest.remove_prefix(1);
    value = digits(rest, 16, kind == 'u' ? 4 : 2);
  } else if (kind == 'u') {
    return LiteralFault{"`\\u` belongs in a wide literal (L\"...\")"};
  } else {
    value = digits(rest, 8, 3);
  }
  if (value < 0) return LiteralFault{std::string("`\\") + kind + "` is no escape sequence"};
  if (value > 255 && kind != 'u') return LiteralFault{"the value of this escape sequence is above 255"};
  return static_cast<std::uint32_t>(value);
}

// Reads one character, escaped or not, from the front of `rest`.
Literal<char> next_character(std::string_view& rest) {
  const char first = rest.front();
  rest.remove_prefix(1);
  if (first != '\\') return first;
  const Literal<std::uint32_t> value = escape(rest, false);
  if (const auto* fault = std::get_if<LiteralFault>(&value)) return *fault;
  return static_cast<char>(static_cast<unsigned char>(std::get<std::uint32_t>(value)));
}

// Returns the length of the UTF-8 sequence at the front of `text`; 1 if there is no valid one.
std::size_t utf8_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t length = first < 0xC2 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 1;
  if (length > text.size()) return 1;
  for (std::size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 1;
  return length;
}

Literal<char32_t> next_wide_character(std::string_view& rest) {
  if (rest.front() == '\\') {
    rest.remove_prefix(1);
    const Literal<std::uint32_t> value = escape(rest, true);
    if (const auto* fault = std::get_if<LiteralFault>(&value)) return *fault;
    return static_cast<char32_t>(std::get<std::uint32_t>(value));
  }
  const std::size_t length = utf8_length(rest);
  auto value = static_cast<char32_t>(static_cast<unsigned char>(rest.front()));
  if (length > 1) value &= 0x7Fu >> length;
  for (std::size_t i = 1; i < length; ++i) value = value << 6 | (static_cast<unsigned char>(rest[i]) & 0x3Fu);
  rest.remove_prefix(length);
  return value;
}

// Returns the only character between the quotes.
template <typename Next>
auto only_character(std::string_view body, const Next& next) -> decltype(next(body)) {
  if (body.empty()) return LiteralFault{"a character literal holds one character"};
  auto value = next(body);
  if (value.index() == 0 && !body.empty()) return LiteralFault{"a character literal holds one character"};
  return value;
}

template <typename Text, typename Next>
Literal<Text> all_characters(std::string_view body, const Next& next) {
  Text text;
  while (!body.empty()) {
    const auto value = next(body);
    if (const auto* fault = std::get_if<LiteralFault>(&value)) return *fault;
    if (std::get<0>(value) == 0) return LiteralFault{"a string cannot hold the character with value 0"};
    text += std::get<0>(value);
  }
  return text;
}

// Joins surrogate pairs: L"\ud83d\ude00" is one character above U+FFFF, as UTF-16 writes it.
std::u32string without_pairs(const std::u32string& text) {
  std::u32string out;
  for (const char32_t c : text) {
    const bool is_low = c >= 0xDC00 && c <= 0xDFFF;
    if (is_low && !out.empty() && out.back() >= 0xD800 && out.back() <= 0xDBFF)
      out.back() = 0x10000 + ((out.back() - 0xD800) << 10) + (c - 0xDC00);
    else
      out += c;
  }
  return out;
}

std::string_view between_quotes(std::string_view text) { return text.substr(1, text.size() - 2); }

}  // namespace

Literal<std::uint64_t> integer_value(std::string_view text) {
  int base = 10;
  std::string_view body = text;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    body.remove_prefix(2);
  } else if (text.size() > 1 && text.starts_with('0')) {
    base = 8;
    body.remove_prefix(1);
  }
  std::uint64_t value = 0;
  const auto [end, fault] = std::from_chars(body.data(), body.data() + body.size(), value, base);
  if (fault == std::errc::result_out_of_range) return LiteralFault{quoted(text) + " does not fit in 64 bits"};
  if (fault != std::errc{} || end != body.data() + body.size()) return no_number(text);
  return value;
}

Literal<ast::Real> floating_value(std::string_view text) {
  ast::Real value{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value.wide);
  if (fault == std::errc::result_out_of_range)
    return LiteralFault{quoted(text) + " is out of the range of long double"};
  if (fault != std::errc{} || end != text.data() + text.size()) return no_number(text);
  const auto narrow = std::from_chars(text.data(), text.data() + text.size(), value.narrow);
  if (narrow.ec == std::errc::result_out_of_range) value.narrow = static_cast<double>(value.wide);  // infinite, or zero
  return value;
}

Literal<ast::FixedLiteral> fixed_value(std::string_view text) {
  constexpr std::size_t most_digits = 31;
  const std::string_view number = text.substr(0, text.size() - 1);
  std::size_t count = 0;
  std::size_t points = 0;
  for (const char c : number) {
    if (c == '.')
      ++points;
    else if (digit_of(c) < 10)
      ++count;
    else
      return no_number(text);
  }
  if (points > 1 || count == 0) return no_number(text);
  std::string_view counted = number.substr(std::min(number.find_first_not_of('0'), number.size()));
  if (counted.find('.') != std::string_view::npos) counted = counted.substr(0, counted.find_last_not_of('0') + 1);
  const std::size_t has_point = counted.find('.') != std::string_view::npos ? 1 : 0;
  if (counted.size() - has_point > most_digits) return LiteralFault{quoted(text) + " has more than 31 digits"};
  return ast::FixedLiteral{std::string(number)};
}

Literal<char> character_value(std::string_view text) { return only_character(between_quotes(text), next_character); }

Literal<std::string> string_value(std::string_view text) {
  return all_characters<std::string>(between_quotes(text), next_character);
}

Literal<char32_t> wide_character_value(std::string_view text) {
  return only_character(between_quotes(text.substr(1)), next_wide_character);
}

Literal<std::u32string> wide_string_value(std::string_view text) {
  auto value = all_characters<std::u32string>(between_quotes(text.substr(1)), next_wide_character);
  if (auto* characters = std::get_if<std::u32string>(&value)) *characters = without_pairs(*characters);
  return value;
}

}  // namespace corelane::idl
