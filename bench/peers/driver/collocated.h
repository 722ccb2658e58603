// Times calls that take nanoseconds: batches of them, since a clock read costs more than a call.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "bench/peers/driver/summary.h"

namespace peers {

// Prints a record of `batches` batches. Its percentiles are of the nanoseconds of one call, as the means of batches.
// `call(value)` returns value + 1.
template <typename Call>
int run_collocated(std::size_t batches, Call&& call) {
  using Clock = std::chrono::steady_clock;
  constexpr std::int64_t batch = 1000;
  std::int64_t value = 0;
  for (std::int64_t i = 0; i < 100 * batch; ++i) value = call(value);
  std::vector<std::uint64_t> picoseconds(batches);
  for (std::uint64_t& sample : picoseconds) {
    const auto begin = Clock::now();
    for (std::int64_t i = 0; i < batch; ++i) value = call(value);
    const std::chrono::nanoseconds elapsed = Clock::now() - begin;
    sample = static_cast<std::uint64_t>(elapsed.count() * 1000 / batch);
  }
  const Percentiles all = percentiles_of(picoseconds);
  const auto in_ns = [](std::uint64_t ps) { return static_cast<double>(ps) / 1000; };
  Record record;
  record.add("calls", static_cast<std::int64_t>(batches) * batch).add("checksum", value);
  record.add("count", static_cast<std::int64_t>(all.count)).add("min_ns", in_ns(all.min)).add("p50_ns", in_ns(all.p50));
  record.add("p99_ns", in_ns(all.p99)).add("p999_ns", in_ns(all.p999)).add("p9999_ns", in_ns(all.p9999));
  record.add("max_ns", in_ns(all.max));
  std::printf("%s\n", record.text().c_str());
  return 0;
}

}  // namespace peers
