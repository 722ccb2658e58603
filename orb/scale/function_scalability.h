// Finds the functions that keep a program from scaling. Such a function needs more time for a unit of work on many
// cores than on one (function scalability value, Cui).
// Threads: pure functions.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace corelane::scale {

struct FunctionTime {
  std::string function{};
  double time = 0;  // for a unit of work, in any unit of time
};

struct FunctionScalability {
  std::string function{};
  double one = 0;     // time for a unit of work on one core
  double many = 0;    // the same on many cores
  double value = 0;   // many - one: 0 for a function that scales perfectly
  double weight = 0;  // share of this value in the sum of all values above 0; 0 if the value is not above 0
};

// Returns the functions of both runs, highest value first, and by name among equal values. Times of one function are
// added up. A function that one run does not have took no time there.
std::vector<FunctionScalability> function_scalability(std::span<const FunctionTime> one,
                                                      std::span<const FunctionTime> many);

}  // namespace corelane::scale
