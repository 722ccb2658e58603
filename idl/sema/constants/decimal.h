// Arithmetic on fixed-point constants. Section: OMG IDL 4.2, 7.4.1.4.3. Results have up to 31 digits; fraction digits
// beyond that are dropped.
#pragma once

#include <optional>
#include <string_view>

#include "idl/model/model.h"

namespace corelane::idl {

// The largest number of digits of a fixed-point number.
inline constexpr std::size_t most_decimal_digits = 31;

// Reads a text such as "12.50": digits with at most one point, at most 31 of them significant.
Decimal decimal_of(std::string_view text);

// These return nothing if the integer part does not fit in 31 digits.
std::optional<Decimal> sum(const Decimal& a, const Decimal& b);
std::optional<Decimal> product(const Decimal& a, const Decimal& b);
// Precondition: `b` is not zero.
std::optional<Decimal> quotient(const Decimal& a, const Decimal& b);

Decimal negated(Decimal value);
bool is_zero(const Decimal& value);

// Returns a text such as "-12.5".
std::string spell(const Decimal& value);

}  // namespace corelane::idl
