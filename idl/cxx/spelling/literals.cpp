// Writes values as C++ literals.
#include "idl/cxx/spelling/literals.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "idl/cxx/spelling/names.h"
#include "idl/cxx/spelling/spelling.h"
#include "idl/cxx/spelling/text.h"

namespace corelane::idl::cxx {
namespace {

// Returns an octal escape. It has three digits, and \U has eight, so a following digit cannot become part of it.
std::string octal(unsigned code) {
  return {'\\', static_cast<char>('0' + code / 64), static_cast<char>('0' + code / 8 % 8),
          static_cast<char>('0' + code % 8)};
}

// Escapes one character of a literal.
std::string escaped_character(char c) {
  if (c == '\\' || c == '"' || c == '\'') return {'\\', c};
  if (c >= ' ' && c <= '~') return {c};
  return octal(static_cast<unsigned char>(c));
}

// Returns whether \U can express the character. It cannot express half of a UTF-16 pair.
bool is_code_point(char32_t c) { return c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF); }

// Escapes one character of a wide literal. \x takes all hexadecimal digits that follow it.
std::string escaped_character(char32_t c) {
  if (c < 0x80) return escaped_character(static_cast<char>(c));
  if (c < 0x100) return octal(c);
  static constexpr char digits[] = "0123456789abcdef";
  std::string out = is_code_point(c) ? "\\U" : "\\x";
  for (int shift = 28; shift >= 0; shift -= 4) out += digits[c >> shift & 0xf];
  return out;
}

// Returns whether the character could be the second one of a trigraph, such as ??=.
template <typename Text>
bool is_second_question_mark(const Text& text, std::size_t at) {
  return at > 0 && text[at] == '?' && text[at - 1] == '?';
}

std::string wide_literal(const std::u32string& text) {
  std::string out = "L\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    out += is_second_question_mark(text, i) ? "\\?" : escaped_character(text[i]);
    if (!is_code_point(text[i])) out += "\" L\"";
  }
  return out + "\"";
}

// The smallest 64-bit number has no literal of its own.
std::string integer_literal(std::int64_t value) {
  const bool is_least = value == std::numeric_limits<std::int64_t>::min();
  return is_least ? std::to_string(value + 1) + " - 1" : std::to_string(value);
}

std::string unsigned_literal(std::uint64_t value) { return std::to_string(value) + "U"; }

// Returns the shortest digits that read back as the same value.
template <typename Float>
std::string float_literal(Float value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string decimal_text(const Decimal& value) {
  std::string digits = value.digits;
  if (digits.size() <= value.scale) digits.insert(0, value.scale + 1 - digits.size(), '0');
  if (value.scale != 0) digits.insert(digits.size() - value.scale, ".");
  return (value.negative ? "-" : "") + digits;
}

}  // namespace

std::string string_literal(std::string_view text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size(); ++i)
    out += is_second_question_mark(text, i) ? "\\?" : escaped_character(text[i]);
  return out + "\"";
}

std::string message_literal(std::string_view text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' || text[i] == '"' || is_second_question_mark(text, i)) out += '\\';
    out += text[i];
  }
  return out + "\"";
}

std::string Spelling::enumerator(DefId enumeration, std::size_t index) const {
  const auto& body = std::get<Enumeration>(model_[enumeration].body);
  return qualified(enumeration) + "::" + escaped(body.enumerators[index].name, NameUse::plain);
}

std::string Spelling::value(TypeId type, const Value& value) const {
  const Type& resolved = model_.resolved(type);
  return std::visit(
      [&]<typename T>(const T& v) -> std::string {
        if constexpr (std::is_same_v<T, bool>) return v ? "true" : "false";
        if constexpr (std::is_same_v<T, std::int64_t>) return integer_literal(v);
        if constexpr (std::is_same_v<T, std::uint64_t>) {
          if (resolved.kind != TypeKind::bitmask) return unsigned_literal(v);
          return fill("static_cast<$0>($1)", {qualified(resolved.definition), unsigned_literal(v)});
        }
        if constexpr (std::is_same_v<T, double>) {
          if (resolved.kind == TypeKind::float32) return float_literal(static_cast<float>(v)) + "F";
          return float_literal(v);
        }
        if constexpr (std::is_same_v<T, long double>) return float_literal(v) + "L";
        if constexpr (std::is_same_v<T, char>) return "'" + escaped_character(v) + "'";
        if constexpr (std::is_same_v<T, char32_t>) return "L'" + escaped_character(v) + "'";
        if constexpr (std::is_same_v<T, std::string>) return string_literal(v);
        if constexpr (std::is_same_v<T, std::u32string>) return wide_literal(v);
        if constexpr (std::is_same_v<T, Decimal>) return fill("$0(\"$1\")", {this->type(type), decimal_text(v)});
        if constexpr (std::is_same_v<T, EnumeratorRef>) return enumerator(v.enumeration, v.index);
      },
      value);
}

}  // namespace corelane::idl::cxx
