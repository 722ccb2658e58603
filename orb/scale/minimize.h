// minimize() finds a minimum of a function of a few variables without derivatives (Nelder and Mead, "A simplex method
// for function minimization", The Computer Journal 7(4), 1965).
// Threads: pure. Allocates.
#pragma once

#include <functional>
#include <vector>

namespace corelane::scale {

using Vector = std::vector<double>;

// Returns a local minimum near `start`, which has one to about five variables. `step` is how far the search looks at
// first, in each variable. Evaluates `cost` at most a few thousand times. A cost that is not finite is never chosen.
Vector minimize(const std::function<double(const Vector&)>& cost, const Vector& start, double step);

}  // namespace corelane::scale
