#include "orb/eval/report/ticks.h"

#include <cmath>

#include "orb/eval/report/table.h"

namespace corelane::eval {
namespace {

constexpr double tick_tolerance = 1e-9;  // of a step

// Returns the least of 1, 2, 5 and 10 times a power of ten that is not less than the rough step.
double round_step(double rough) {
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (rough <= factor * power * 1.001) return factor * power;
  return 10 * power;
}

}  // namespace

std::vector<double> linear_ticks(double least, double most, int parts) {
  const double step = round_step((most - least) / parts);
  const double first = std::ceil(least / step - tick_tolerance);
  const double steps = std::floor(most / step + tick_tolerance) - first;
  std::vector<double> ticks;
  for (int i = 0; i <= steps; ++i) ticks.push_back((first + i) * step);
  return ticks;
}

std::vector<double> logarithmic_ticks(double least, double most) {
  const bool is_short = most <= 1000 * least;
  std::vector<double> ticks;
  for (double exponent = std::floor(std::log10(least)); exponent <= std::log10(most); ++exponent)
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double tick = factor * std::pow(10, exponent);
      const bool is_inside = tick >= least * (1 - tick_tolerance) && tick <= most * (1 + tick_tolerance);
      if (is_inside && (is_short || factor < 2)) ticks.push_back(tick);
    }
  return ticks;
}

std::string tick_text(double value) {
  std::string text = fixed(value, 4);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

}  // namespace corelane::eval
