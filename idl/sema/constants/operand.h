// Operands are the values of constant expressions during evaluation. Integers are exact. Floating-point numbers are
// kept in two precisions until the type is known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "idl/ast/ast.h"
#include "idl/model/model.h"

namespace corelane::idl {

__extension__ using Integer = __int128;
using Real = ast::Real;
using Operand = std::variant<bool, Integer, Real, char, std::string, EnumeratorRef, char32_t, std::u32string, Decimal>;

// Returns the decimal digits. The magnitude is at most 2^64 - 1.
std::string spell(Integer value);

// Returns the kind with its article: "an integer".
std::string_view kind_of(const Operand& operand);

struct Range {
  Integer low;
  Integer high;
};

// Returns the range of an integer type or octet; nothing for other types.
std::optional<Range> integer_range(TypeKind kind);

// Returns the number with the lowest `count` bits set; `count` is at most 64.
inline Integer lowest_bits(std::uint16_t count) { return (Integer{1} << static_cast<int>(count)) - 1; }

// Converts a value of the model to an operand, for std::visit.
struct ToOperand {
  Operand operator()(std::int64_t value) const { return Integer{value}; }
  Operand operator()(std::uint64_t value) const { return Integer{value}; }
  Operand operator()(double value) const { return Real{value, value}; }
  Operand operator()(long double value) const { return Real{static_cast<double>(value), value}; }
  template <typename T>
  Operand operator()(const T& value) const {
    return value;
  }
};

}  // namespace corelane::idl
