// Numbers of a row: percentiles over all rounds, and the ratio of medians round by round.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bench_support {

using Samples = std::vector<std::uint64_t>;  // nanoseconds

// Of nanoseconds, in microseconds.
struct Moments {
  double mean = 0;
  double deviation = 0;  // standard, of the samples as they are
};
Moments moments(std::span<const std::uint64_t> samples);  // not empty

// The smallest sample that at least `share` of all do not exceed; sorted and not empty.
std::uint64_t percentile(std::span<const std::uint64_t> sorted, double share);

struct Row {
  std::string name;
  std::vector<Samples> rounds;
  std::string fault;  // why the row has no more rounds; empty when it has all
};

// Of all rounds, sorted.
Samples pooled(const Row& row);

// The median over the rounds of p50 here to p50 there, and of p50 here minus p50 there in microseconds: both of one
// round met the same machine. Each row has a round at least.
double ratio(const Row& row, const Row& reference);
double difference(const Row& row, const Row& reference);

// Prints a table whose first row is the reference of the ratios.
void print(const std::string& title, const std::vector<Row>& rows);

}  // namespace bench_support
