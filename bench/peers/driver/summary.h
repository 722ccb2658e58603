// Percentiles of one run, and the line of JSON in which a program reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace peers {

// Percentiles of one run, in nanoseconds.
struct Percentiles {
  std::size_t count = 0;
  std::uint64_t min = 0, p50 = 0, p99 = 0, p999 = 0, p9999 = 0, max = 0;
};

// Returns the nearest-rank percentiles. A nearest-rank percentile is the smallest sample such that at least that share
// of the samples do not exceed it. Sorts the samples, which must not be empty.
Percentiles percentiles_of(std::vector<std::uint64_t>& samples);

// One object of JSON on one line.
class Record {
 public:
  Record& add(std::string_view key, std::int64_t value);
  Record& add(std::string_view key, double value);
  Record& add(std::string_view key, std::string_view value);
  Record& add(const Percentiles& percentiles);  // as count, min_ns, p50_ns, ..., max_ns
  std::string text() const;

 private:
  Record& add_raw(std::string_view key, const std::string& value);

  std::string members_;
};

}  // namespace peers
