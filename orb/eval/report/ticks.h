// The places of the marks on an axis: round numbers.
// Threads: pure functions. They allocate.
#pragma once

#include <string>
#include <vector>

namespace corelane::eval {

// Returns the multiples of a round step from `least` to `most`, ascending. `parts`: about so many steps. The step is 1,
// 2 or 5 times a power of ten.
std::vector<double> linear_ticks(double least, double most, int parts);

// Returns the powers of ten from `least` to `most`, ascending. Over at most three of them, also 2 and 5 times each.
// Both are > 0.
std::vector<double> logarithmic_ticks(double least, double most);

// Returns the number with at most four digits behind the point.
std::string tick_text(double value);

}  // namespace corelane::eval
