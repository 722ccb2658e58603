#include "idl/sema/constants/conversion.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <charconv>
#include <cmath>
#include <utility>

#include "idl/sema/constants/decimal.h"

namespace corelane::idl {
namespace {

// Returns the fixed-point number of an integer, or of the shortest decimal form of a floating-point number.
std::optional<Decimal> decimal_from(const Operand& operand) {
  std::string text;
  if (const auto* integer = std::get_if<Integer>(&operand)) {
    text = spell(*integer);
  } else if (const auto* real = std::get_if<Real>(&operand); real != nullptr && std::fabs(real->narrow) < 1e31) {
    std::array<char, 400> buffer{};
    const auto done =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), real->narrow, std::chars_format::fixed);
    text.assign(buffer.data(), done.ptr);
  } else {
    return std::nullopt;
  }
  const bool negative = text.starts_with('-');
  const Decimal value = decimal_of(std::string_view(text).substr(negative ? 1 : 0));
  return negative ? negated(value) : value;
}

// Returns how many characters remain, without the sign, when the number is truncated to the scale of the type.
std::size_t fraction_end(const Decimal& value, const Type& type) {
  return spell(value).size() - (value.negative ? 1 : 0) - static_cast<std::size_t>(value.scale - type.scale);
}

}  // namespace

std::optional<Value> Conversion::convert(const Operand& operand, const Span& at) {
  const TypeKind kind = model_.resolved(wanted_).kind;
  if (const auto range = integer_range(kind)) return to_integer(operand, *range, at);
  switch (kind) {
    case TypeKind::bitmask:
      return to_integer(
          operand, {0, lowest_bits(std::get<Bitmask>(model_[model_.resolved(wanted_).definition].body).bit_bound)}, at);
    case TypeKind::float32:
    case TypeKind::float64:
    case TypeKind::float128:
      return to_float(operand, kind, at);
    case TypeKind::enumeration:
      return to_enumerator(operand, at);
    case TypeKind::fixed:
      return to_fixed(operand, at);
    case TypeKind::boolean:
      return as<bool>(operand, at);
    case TypeKind::character:
      return as<char>(operand, at);
    case TypeKind::wide_character:
      return to_wide_character(operand, at);
    case TypeKind::string:
      return to_string<std::string>(operand, at);
    case TypeKind::wide_string:
      return to_wide_string(operand, at);
    default:
      return mismatch(operand, at);
  }
}

std::optional<Value> Conversion::to_integer(const Operand& operand, const Range& range, const Span& at) {
  const auto* value = std::get_if<Integer>(&operand);
  if (value == nullptr) return mismatch(operand, at);
  if (*value < range.low || *value > range.high) {
    diagnostics_.error(at, spell(*value) + " is outside the range of " + quoted(types_.name(wanted_)) + " (" +
                               spell(range.low) + " to " + spell(range.high) + ")");
    return std::nullopt;
  }
  if (range.low < 0) return Value{static_cast<std::int64_t>(*value)};
  return Value{static_cast<std::uint64_t>(*value)};
}

template <typename T>
std::optional<Value> Conversion::as(const Operand& operand, const Span& at) {
  if (const auto* value = std::get_if<T>(&operand)) return Value{*value};
  return mismatch(operand, at);
}

// Other IDL compilers convert some literals silently. Here the conversion gives a warning.
void Conversion::warn_converted(const Operand& operand, const Span& at) {
  diagnostics_.warning(Warning::constant, at, mismatch_text(operand));
}

std::optional<Value> Conversion::to_wide_character(const Operand& operand, const Span& at) {
  const auto* narrow = std::get_if<char>(&operand);
  if (narrow == nullptr || *narrow < 0) return as<char32_t>(operand, at);
  warn_converted(operand, at);
  return Value{static_cast<char32_t>(*narrow)};
}

std::optional<Value> Conversion::to_wide_string(const Operand& operand, const Span& at) {
  const auto* narrow = std::get_if<std::string>(&operand);
  const auto is_ascii = [](char c) { return c >= 0; };
  if (narrow == nullptr || !std::all_of(narrow->begin(), narrow->end(), is_ascii))
    return to_string<std::u32string>(operand, at);
  warn_converted(operand, at);
  return to_string<std::u32string>(Operand{std::u32string(narrow->begin(), narrow->end())}, at);
}

template <typename Text>
std::optional<Value> Conversion::to_string(const Operand& operand, const Span& at) {
  const auto* value = std::get_if<Text>(&operand);
  if (value == nullptr) return mismatch(operand, at);
  const std::uint64_t bound = model_.resolved(wanted_).bound;
  if (bound == 0 || value->size() <= bound) return Value{*value};
  diagnostics_.error(at, "the string has " + std::to_string(value->size()) + " characters, more than " +
                             quoted(types_.name(wanted_)) + " takes");
  return std::nullopt;
}

std::optional<Value> Conversion::to_float(const Operand& operand, TypeKind kind, const Span& at) {
  if (const auto* integer = std::get_if<Integer>(&operand)) {
    warn_converted(operand, at);
    return to_float(Operand{Real{static_cast<double>(*integer), static_cast<long double>(*integer)}}, kind, at);
  }
  const auto* value = std::get_if<Real>(&operand);
  if (value == nullptr) return mismatch(operand, at);
  if (kind == TypeKind::float128) return Value{value->wide};
  if (kind != TypeKind::float32 || std::fabs(value->narrow) <= double{FLT_MAX}) return Value{value->narrow};
  constexpr double rounded_away = 0x1.ffffffp127;  // half a step above the largest float; less than that rounds to it
  if (std::fabs(value->narrow) < rounded_away) return Value{std::copysign(double{FLT_MAX}, value->narrow)};
  diagnostics_.error(at, "the value is outside the range of `float`");
  return std::nullopt;
}

// `const fixed` takes any value. fixed<5, 2> takes a value with three digits before the point and two after it.
std::optional<Value> Conversion::to_fixed(const Operand& operand, const Span& at) {
  if (const auto converted = decimal_from(operand)) {
    warn_converted(operand, at);
    return to_fixed(Operand{*converted}, at);
  }
  const auto* value = std::get_if<Decimal>(&operand);
  if (value == nullptr) return mismatch(operand, at);
  const Type& type = model_.resolved(wanted_);
  const std::size_t digits = is_zero(*value) ? 0 : value->digits.size();
  const std::size_t whole = digits > value->scale ? digits - value->scale : 0;
  const bool fits = whole <= std::size_t{type.digits} - type.scale;
  if (type.digits == 0 || (fits && value->scale <= type.scale)) return Value{*value};
  if (fits) {
    diagnostics_.warning(Warning::constant, at,
                         quoted(types_.name(wanted_)) + " cuts " + spell(*value) + " to its scale");
    const Decimal cut = decimal_of(spell(*value).substr(value->negative ? 1 : 0, fraction_end(*value, type)));
    return Value{value->negative ? negated(cut) : cut};
  }
  diagnostics_.error(at, spell(*value) + " does not fit in " + quoted(types_.name(wanted_)));
  return std::nullopt;
}

std::optional<Value> Conversion::to_enumerator(const Operand& operand, const Span& at) {
  const auto* value = std::get_if<EnumeratorRef>(&operand);
  if (value == nullptr) return mismatch(operand, at);
  const DefId wanted = model_.resolved(wanted_).definition;
  if (value->enumeration == wanted) return Value{*value};
  diagnostics_.error(at, "expected an enumerator of " + quoted(model_[wanted].scoped_name) + ", found one of " +
                             quoted(model_[value->enumeration].scoped_name));
  return std::nullopt;
}

std::optional<Value> Conversion::mismatch(const Operand& operand, const Span& at) {
  diagnostics_.error(at, mismatch_text(operand));
  return std::nullopt;
}

std::string Conversion::mismatch_text(const Operand& operand) const {
  const TypeKind kind = model_.resolved(wanted_).kind;
  const bool real = kind == TypeKind::float32 || kind == TypeKind::float64 || kind == TypeKind::float128;
  const bool is_integer = std::holds_alternative<Integer>(operand);
  std::string message = "expected a value of type " + quoted(types_.name(wanted_)) + ", found ";
  message += kind_of(operand);
  if (real && is_integer) message += " (write it with a decimal point)";
  if (kind == TypeKind::fixed && (is_integer || std::holds_alternative<Real>(operand)))
    message += " (write it with a `d` at its end)";
  const bool wide = kind == TypeKind::wide_character || kind == TypeKind::wide_string;
  if (wide && (std::holds_alternative<char>(operand) || std::holds_alternative<std::string>(operand)))
    message += " (write an `L` before it)";
  return message;
}

}  // namespace corelane::idl
