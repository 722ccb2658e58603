// Arithmetic on fixed-point constants. Section: OMG IDL 4.2, 7.4.1.4.3 (results have up to 31 digits; digits of a
// fraction that do not fit are cut off).
#pragma once

#include <optional>
#include <string_view>

#include "idl/model/model.h"

namespace corelane::idl {

// The most digits of a fixed-point number.
inline constexpr std::size_t most_decimal_digits = 31;

// "12.50", digits with at most one point, not more than 31 that count.
Decimal decimal_of(std::string_view text);

// Nothing where the whole part does not fit in 31 digits.
std::optional<Decimal> sum(const Decimal& a, const Decimal& b);
std::optional<Decimal> product(const Decimal& a, const Decimal& b);
// `b` is not zero.
std::optional<Decimal> quotient(const Decimal& a, const Decimal& b);

Decimal negated(Decimal value);
bool is_zero(const Decimal& value);

// "-12.5".
std::string spell(const Decimal& value);

}  // namespace corelane::idl
