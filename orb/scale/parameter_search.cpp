#include "orb/scale/parameter_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace corelane::scale {
namespace {

// 97.5 % quantiles of Student's t distribution with 1 to 30 degrees of freedom.
constexpr std::array student_quantiles{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                       2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                                       2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};

// Above 30 degrees of freedom, that of 30: the interval is then a little too wide.
double student_quantile(std::size_t degrees) {
  return student_quantiles[std::min(degrees, student_quantiles.size()) - 1];
}

std::size_t candidates_of(const std::vector<std::size_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0},
                         [](std::size_t sum, std::size_t count) { return sum + count - 1; });
}

}  // namespace

Improvement improvement_of(const std::vector<double>& ratios) {
  const auto count = static_cast<double>(ratios.size());
  double sum = 0, squares = 0;
  for (const double ratio : ratios) sum += std::log(ratio);
  const double mean = sum / count;
  for (const double ratio : ratios) squares += (std::log(ratio) - mean) * (std::log(ratio) - mean);
  const double half = student_quantile(ratios.size() - 1) * std::sqrt(squares / (count - 1) / count);
  return {.factor = std::exp(mean),
          .low = std::exp(mean - half),
          .high = std::exp(mean + half),
          .pairs = static_cast<int>(ratios.size())};
}

ParameterSearch::ParameterSearch(std::vector<std::size_t> counts, const ParameterSearchOptions& options)
    : counts_(std::move(counts)), options_(options), best_(counts_.size()), candidate_(counts_.size()) {
  next_candidate();
}

std::optional<ParameterValues> ParameterSearch::next() const {
  if (phase_ == Phase::ended) return std::nullopt;
  return challenger_is_next() ? challenger() : rival();
}

void ParameterSearch::take(std::optional<double> figure) {
  decision_ = {};
  if (!validates()) ++runs_;
  if (!figure) return take_failure();
  if (!figure_) {
    figure_ = figure;
    return;
  }
  const double first = *std::exchange(figure_, std::nullopt);
  // The defaults or the present best run first in pairs with an even number.
  ratios_.size() % 2 == 0 ? end_pair(*figure, first) : end_pair(first, *figure);
}

void ParameterSearch::take_failure() {
  figure_.reset();
  if (!validates()) {
    ratios_.clear();
    return decide(Event::dropped);
  }
  // Values that fail again and again are not better.
  if (std::exchange(repeats_, true)) phase_ = Phase::ended;
}

void ParameterSearch::end_pair(double challenger, double rival) {
  ratios_.push_back(options_.maximizes ? challenger / rival : rival / challenger);
  if (!validates()) return judge();
  if (static_cast<int>(ratios_.size()) < options_.validation_pairs) return;
  improvement_ = improvement_of(ratios_);
  phase_ = Phase::ended;
}

void ParameterSearch::judge() {
  if (ratios_.back() <= 1) return decide(Event::dropped);
  if (static_cast<int>(ratios_.size()) == pairs_to_win) return decide(Event::won);
  if (!can_afford_pair()) decide(Event::dropped);
}

void ParameterSearch::decide(Event event) {
  decision_ = {.event = event, .parameter = parameter_, .value = value_, .ratios = std::exchange(ratios_, {})};
  if (event == Event::won) best_ = candidate_;
  unchanged_ = event == Event::won ? 0 : unchanged_ + 1;
  next_candidate();
}

// Takes the next value that the best does not have. The values of a parameter follow each other.
void ParameterSearch::next_candidate() {
  if (!can_afford_pair() || unchanged_ >= candidates_of(counts_)) return end_search();
  while (!advance() || best_[parameter_] == value_) continue;  // bound: the values of all parameters
  candidate_ = best_;
  candidate_[parameter_] = value_;
}

// Goes on by one value. Returns false if there is none, and goes on to the next parameter.
bool ParameterSearch::advance() {
  if (++value_ < counts_[parameter_]) return true;
  parameter_ = (parameter_ + 1) % counts_.size();
  value_ = 0;
  // The default is a candidate, too, if another value has won.
  return best_[parameter_] != 0;
}

void ParameterSearch::end_search() {
  const bool has_winner = std::ranges::any_of(best_, [](std::size_t value) { return value != 0; });
  phase_ = has_winner ? Phase::validates : Phase::ended;
  ratios_.clear();
}

}  // namespace corelane::scale
