// Histogram counts how often each duration occurred. The buckets grow with the value, so a fixed table holds
// nanoseconds and minutes with a relative error of at most 1/32.
//
// Threads: one writer; any number of readers at any time. A reader sees a recent value of each count; the counts of
// different buckets need not belong to one instant.
// Buckets: one for each of 0..63 ns, then 32 for each power of two up to 2^42 ns (73 min). The last bucket also holds
// longer durations.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "orb/base/time.h"

namespace corelane::dispatch {

class Histogram {
 public:
  static constexpr int sub_bits = 5;                    // 2^5 buckets in each power of two
  static constexpr std::size_t buckets = 64 + 36 * 32;  // powers 6..41

  // Counts the value; a negative one as zero. Writer only.
  void record(Duration value) noexcept;

  std::uint64_t count() const noexcept;
  Duration max() const noexcept;  // exact
  // Returns the upper end of the first bucket for which at least `parts_per_million` of the values do not exceed that
  // end, but at most max(). Zero if nothing was recorded.
  Duration quantile(std::uint32_t parts_per_million) const noexcept;

  // For tests. Return the bucket of a value, and the greatest value of a bucket.
  static std::size_t bucket_of(std::uint64_t nanoseconds) noexcept;
  static std::uint64_t upper_end(std::size_t bucket) noexcept;

 private:
  // Owner: the writer writes, readers read. No order among them is promised, so every access is relaxed.
  std::array<std::atomic<std::uint64_t>, buckets> counts_{};
  std::atomic<std::uint64_t> total_{0};
  std::atomic<std::int64_t> max_{0};
};

}  // namespace corelane::dispatch
