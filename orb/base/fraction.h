// Fraction is a number with six digits behind the point, such as a utilization or a part of a period.
//
// Threads: values.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace corelane {

// Sums are exact.
struct Fraction {
  std::int64_t millionths = 0;

  friend constexpr auto operator<=>(const Fraction&, const Fraction&) = default;
};
inline constexpr Fraction unity{1'000'000};

// Returns a decimal number without superfluous digits: "0.95". The fraction is not negative.
std::string decimal(Fraction fraction);

}  // namespace corelane
