#include "orb/dispatch/telemetry/histogram.h"

#include <algorithm>
#include <bit>

#include "orb/dispatch/telemetry/counter.h"

namespace corelane::dispatch {
namespace {

constexpr std::uint64_t linear = 64;  // values below it have one bucket each

}  // namespace

std::size_t Histogram::bucket_of(std::uint64_t nanoseconds) noexcept {
  if (nanoseconds < linear) return nanoseconds;
  const int power = static_cast<int>(std::bit_width(nanoseconds)) - 1;  // >= 6
  const std::uint64_t within = (nanoseconds >> (power - sub_bits)) & ((1U << sub_bits) - 1);
  const auto bucket = linear + static_cast<std::size_t>(power - 6) * (1U << sub_bits) + within;
  return std::min<std::size_t>(bucket, buckets - 1);
}

std::uint64_t Histogram::upper_end(std::size_t bucket) noexcept {
  if (bucket < linear) return bucket;
  const std::size_t power = 6 + (bucket - linear) / (1U << sub_bits);
  const std::uint64_t within = (bucket - linear) % (1U << sub_bits);
  return (((1U << sub_bits) + within + 1) << (power - sub_bits)) - 1;
}

void Histogram::record(Duration value) noexcept {
  const std::int64_t ns = std::max<std::int64_t>(value.count(), 0);
  increment(counts_[bucket_of(static_cast<std::uint64_t>(ns))]);
  increment(total_);
  // relaxed: only this thread writes max_.
  if (ns > max_.load(std::memory_order_relaxed)) max_.store(ns, std::memory_order_relaxed);
}

// relaxed in all readers: see the class, no order among the counts is promised.
std::uint64_t Histogram::count() const noexcept { return total_.load(std::memory_order_relaxed); }

Duration Histogram::max() const noexcept { return Duration{max_.load(std::memory_order_relaxed)}; }

Duration Histogram::quantile(std::uint32_t parts_per_million) const noexcept {
  const std::uint64_t total = count();
  if (total == 0) return Duration::zero();
  const double share = static_cast<double>(parts_per_million) / 1e6;
  const auto wanted = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(share * static_cast<double>(total) + 0.5));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < buckets; ++i) {
    seen += counts_[i].load(std::memory_order_relaxed);  // relaxed: no order among the counts is promised
    if (seen >= wanted) return std::min(Duration{static_cast<std::int64_t>(upper_end(i))}, max());
  }
  return max();
}

}  // namespace corelane::dispatch
