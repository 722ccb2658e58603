// The mean and the variance of many numbers, and whether they are those of a distribution.
#pragma once

#include <cmath>
#include <cstddef>

namespace corelane::eval::testing {

class Moments {
 public:
  void add(double value) {
    ++count_;
    sum_ += value;
    squares_ += value * value;
  }
  double mean() const { return sum_ / static_cast<double>(count_); }
  double variance() const { return squares_ / static_cast<double>(count_) - mean() * mean(); }
  // Returns whether the mean is within four standard errors of `expected`.
  bool has_mean(double expected) const {
    return std::abs(mean() - expected) <= 4 * std::sqrt(variance() / static_cast<double>(count_)) + 1e-12;
  }
  // Returns whether the variance is within `part` of `expected`.
  bool has_variance(double expected, double part = 0.03) const {
    return std::abs(variance() - expected) <= part * expected;
  }

 private:
  std::size_t count_ = 0;
  double sum_ = 0, squares_ = 0;
};

}  // namespace corelane::eval::testing
