#include "orb/scale/minimize.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace corelane::scale {
namespace {

constexpr int most_moves = 1000;
constexpr double precision = 1e-10;  // of the variables, between the corners of the simplex

struct Corner {
  Vector at{};
  double cost = 0;
};

// Returns a + factor (b - a).
Vector between(const Vector& a, const Vector& b, double factor) {
  Vector result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) result[i] = a[i] + factor * (b[i] - a[i]);
  return result;
}

// Simplex has one corner more than there are variables. corners_ is sorted by cost before each move.
class Simplex {
 public:
  Simplex(const std::function<double(const Vector&)>& cost, const Vector& start, double step) : cost_(cost) {
    corners_.push_back(corner(start));
    for (std::size_t i = 0; i < start.size(); ++i) {
      Vector moved = start;
      moved[i] += step;
      corners_.push_back(corner(std::move(moved)));
    }
  }

  const Vector& run() {
    for (int move = 0; move < most_moves; ++move) {
      std::sort(corners_.begin(), corners_.end(), [](const Corner& a, const Corner& b) { return a.cost < b.cost; });
      if (size() < precision) break;
      improve_worst();
    }
    return corners_.front().at;
  }

 private:
  Corner corner(Vector at) const {
    const double cost = cost_(at);
    return {std::move(at), std::isfinite(cost) ? cost : std::numeric_limits<double>::max()};
  }

  // Returns the largest distance in one variable between the best corner and another one.
  double size() const {
    double largest = 0;
    for (const Corner& other : corners_)
      for (std::size_t i = 0; i < other.at.size(); ++i)
        largest = std::max(largest, std::abs(other.at[i] - corners_.front().at[i]));
    return largest;
  }

  // Returns the center of all corners but the worst.
  Vector center() const {
    Vector sum(corners_.front().at.size());
    for (std::size_t c = 0; c + 1 < corners_.size(); ++c)
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += corners_[c].at[i];
    for (double& value : sum) value /= static_cast<double>(corners_.size() - 1);
    return sum;
  }

  // Replaces the worst corner by a better one on the line through the center. If there is none, shrinks the simplex.
  void improve_worst() {
    Corner& worst = corners_.back();
    const Vector middle = center();
    Corner reflected = corner(between(middle, worst.at, -1));
    if (reflected.cost < corners_.front().cost) {
      Corner expanded = corner(between(middle, worst.at, -2));
      worst = expanded.cost < reflected.cost ? std::move(expanded) : std::move(reflected);
    } else if (reflected.cost < corners_[corners_.size() - 2].cost) {
      worst = std::move(reflected);
    } else {
      Corner contracted = corner(between(middle, worst.at, reflected.cost < worst.cost ? -0.5 : 0.5));
      if (contracted.cost < std::min(reflected.cost, worst.cost))
        worst = std::move(contracted);
      else
        shrink();
    }
  }

  void shrink() {
    const Vector best = corners_.front().at;
    for (std::size_t c = 1; c < corners_.size(); ++c) corners_[c] = corner(between(best, corners_[c].at, 0.5));
  }

  const std::function<double(const Vector&)>& cost_;
  std::vector<Corner> corners_{};
};

}  // namespace

Vector minimize(const std::function<double(const Vector&)>& cost, const Vector& start, double step) {
  // The second search begins at the result of the first, with a fresh simplex: a first one may have become flat.
  const Vector first = Simplex(cost, start, step).run();
  return Simplex(cost, first, step / 4).run();
}

}  // namespace corelane::scale
