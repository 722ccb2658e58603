// Numbers of a row: percentiles over all rounds, and the ratio of medians round by round.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bench_support {

using Samples = std::vector<std::uint64_t>;  // nanoseconds

// Of samples in nanoseconds; in microseconds.
struct Moments {
  double mean = 0;
  double deviation = 0;  // standard deviation of the samples
};
Moments moments(std::span<const std::uint64_t> samples);  // `samples` must not be empty

// Returns the smallest sample such that at least `share` of the samples do not exceed it. `sorted` must be sorted and
// not empty.
std::uint64_t percentile(std::span<const std::uint64_t> sorted, double share);

struct Row {
  std::string name;
  std::vector<Samples> rounds;
  std::string fault;  // why the row has no more rounds; empty if it has all
};

// Returns the samples of all rounds, sorted.
Samples pooled(const Row& row);

// Return the median over the rounds of the ratio of both p50, and of their difference in microseconds. Both values of a
// round come from the same conditions of the machine. Each row must have a round.
double ratio(const Row& row, const Row& reference);
double difference(const Row& row, const Row& reference);

// Prints a table whose first row is the reference of the ratios.
void print(const std::string& title, const std::vector<Row>& rows);

}  // namespace bench_support
