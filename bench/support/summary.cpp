#include "bench/support/summary.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace bench_support {
namespace {

double microseconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1000.0; }

Samples sorted(Samples samples) {
  std::sort(samples.begin(), samples.end());
  return samples;
}

void print_row(const Row& row, const Row& reference) {
  if (const Samples all = pooled(row); !all.empty())
    std::printf("  %6.2f  %-24s %9.2f %9.2f %9.2f %10.2f %9zu\n", ratio(row, reference), row.name.c_str(),
                microseconds(percentile(all, .5)), microseconds(percentile(all, .99)),
                microseconds(percentile(all, .999)), microseconds(all.back()), all.size());
  if (!row.fault.empty()) std::printf("  %6s  %-24s %s\n", "-", row.name.c_str(), row.fault.c_str());
}

// Returns the median over the rounds of `compare`, applied to p50 of both rows in each round.
template <typename Compare>
double median_of_rounds(const Row& row, const Row& reference, Compare compare) {
  std::vector<double> values;
  const std::size_t rounds = std::min(row.rounds.size(), reference.rounds.size());
  for (std::size_t i = 0; i < rounds; ++i)
    values.push_back(compare(static_cast<double>(percentile(sorted(row.rounds[i]), .5)),
                             static_cast<double>(percentile(sorted(reference.rounds[i]), .5))));
  if (values.empty()) return std::nan("");
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

double ratio(const Row& row, const Row& reference) {
  return median_of_rounds(row, reference, [](double here, double there) { return here / there; });
}

double difference(const Row& row, const Row& reference) {
  return median_of_rounds(row, reference, [](double here, double there) { return (here - there) / 1000; });
}

Samples pooled(const Row& row) {
  Samples all;
  for (const Samples& round : row.rounds) all.insert(all.end(), round.begin(), round.end());
  return sorted(std::move(all));
}

Moments moments(std::span<const std::uint64_t> samples) {
  const auto count = static_cast<double>(samples.size());
  double sum = 0, squares = 0;
  for (const std::uint64_t sample : samples) sum += microseconds(sample);
  const double mean = sum / count;
  for (const std::uint64_t sample : samples) squares += (microseconds(sample) - mean) * (microseconds(sample) - mean);
  return {mean, std::sqrt(squares / count)};
}

std::uint64_t percentile(std::span<const std::uint64_t> sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

void print(const std::string& title, const std::vector<Row>& rows) {
  std::printf("\n%s\n  %6s  %-24s %9s %9s %9s %10s %9s\n", title.c_str(), "ratio", "µs", "p50", "p99", "p99.9", "max",
              "count");
  for (const Row& row : rows) print_row(row, rows.front());
}

}  // namespace bench_support
