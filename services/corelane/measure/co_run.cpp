#include "services/corelane/measure/co_run.h"

#include <cmath>
#include <map>
#include <utility>

#include "services/corelane/output/text.h"

namespace corelane::tool {
namespace {

struct Metric {
  std::string_view name;
  std::optional<eval::Fraction> eval::PairSlowdown::*value;
};
constexpr Metric metric_list[] = {{"accesses", &eval::PairSlowdown::accesses},
                                  {"misses", &eval::PairSlowdown::misses},
                                  {"stalls", &eval::PairSlowdown::stalls}};

double as_number(eval::Fraction fraction) { return static_cast<double>(fraction.millionths) / 1e6; }

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// Returns the sum of the products of the distances from the means.
double co_moment(const std::vector<double>& x, const std::vector<double>& y) {
  const double mean_x = mean_of(x), mean_y = mean_of(y);
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += (x[i] - mean_x) * (y[i] - mean_y);
  return sum;
}

std::optional<double> correlation(const std::vector<double>& x, const std::vector<double>& y) {
  if (x.size() < 2) return std::nullopt;
  const double spread = std::sqrt(co_moment(x, x) * co_moment(y, y));
  if (!(spread > 0)) return std::nullopt;
  return co_moment(x, y) / spread;
}

// Returns the mean of the standard deviations (of a sample: divided by n - 1) divided by the means.
std::optional<double> mean_variation(const std::map<std::string, std::vector<double>>& by_operation) {
  std::vector<double> variations;
  for (const auto& [operation, values] : by_operation) {
    if (values.size() < 2 || !(mean_of(values) > 0)) continue;
    const double variance = co_moment(values, values) / static_cast<double>(values.size() - 1);
    variations.push_back(std::sqrt(variance) / mean_of(values));
  }
  if (variations.empty()) return std::nullopt;
  return mean_of(variations);
}

MetricRow metric_row(const Metric& metric, std::span<const eval::PairSlowdown> pairs) {
  std::vector<double> values, factors;
  std::map<std::string, std::vector<double>> by_operation;
  for (const eval::PairSlowdown& pair : pairs) {
    const std::optional<eval::Fraction>& value = pair.*metric.value;
    if (!value) continue;
    values.push_back(as_number(*value));
    factors.push_back(as_number(pair.factor));
    by_operation[pair.operation].push_back(values.back());
  }
  return {.name = metric.name,
          .pairs = values.size(),
          .coefficient = correlation(values, factors),
          .variation = mean_variation(by_operation)};
}

std::string number_text(const std::optional<double>& number) { return number ? format("%.3f", *number) : "-"; }

// The published figure of merit: how many times the variation the coefficient is.
std::string quotient_text(const MetricRow& row) {
  const bool is_known = row.coefficient && row.variation && *row.variation > 0;
  return is_known ? format("%.1f", *row.coefficient / *row.variation) : "-";
}

}  // namespace

// Bound: the samples. The rank is the largest r for which r - 1 or fewer of the samples are below the median with a
// probability of at most 1.25 %.
std::size_t median_rank(std::size_t samples) {
  constexpr double most = 0.0125;
  const auto n = static_cast<double>(samples);
  double sum = 0;
  std::size_t rank = 0;
  for (; rank < samples; ++rank) {
    const auto k = static_cast<double>(rank);
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) - n * std::log(2.0));
    if (sum > most) break;
  }
  return rank;
}

std::optional<FactorRange> factor_range(std::span<const Duration> alone, std::span<const Duration> together) {
  const std::size_t a = median_rank(alone.size()), t = median_rank(together.size());
  if (a == 0 || t == 0 || alone[a - 1] <= Duration::zero()) return std::nullopt;
  const auto quotient = [](Duration x, Duration y) {
    return static_cast<double>(x.count()) / static_cast<double>(y.count());
  };
  return FactorRange{.low = quotient(together[t - 1], alone[alone.size() - a]),
                     .high = quotient(together[together.size() - t], alone[a - 1])};
}

std::vector<MetricRow> metric_rows(std::span<const eval::PairSlowdown> pairs) {
  std::vector<MetricRow> rows;
  for (const Metric& metric : metric_list) rows.push_back(metric_row(metric, pairs));
  return rows;
}

std::string metrics_text(const std::vector<MetricRow>& rows) {
  std::string text =
      format("%-10s %6s %12s %10s %22s\n", "metric", "pairs", "coefficient", "variation", "coefficient/variation");
  bool has_any = false;
  for (const MetricRow& row : rows) {
    has_any |= row.pairs > 0;
    text +=
        format("%-10s %6zu %12s %10s %22s\n", std::string(row.name).c_str(), row.pairs,
               number_text(row.coefficient).c_str(), number_text(row.variation).c_str(), quotient_text(row).c_str());
  }
  return has_any ? text : "No table of metrics: the file has no counts of the processor.\n";
}

}  // namespace corelane::tool
