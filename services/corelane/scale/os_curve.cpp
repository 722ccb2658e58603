#include "services/corelane/scale/os_curve.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

#include "orb/base/text/counted.h"
#include "services/corelane/measure/co_run.h"
#include "services/corelane/scale/bound_processes.h"

namespace corelane::tool {
namespace {

constexpr std::size_t shown_locks = 3;
constexpr int single_steps = 8;

// Returns nothing if the kernel does not count contention, or does not let this user read it.
std::optional<std::vector<LockContention>> contentions_now() {
  std::ifstream file("/proc/lock_stat");
  if (!file) return std::nullopt;
  return contentions_in(std::string(std::istreambuf_iterator<char>(file), {}));
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

OsPoint median_point(int cores, const std::vector<BoundRun>& runs) {
  std::vector<double> throughputs, kernel_ns;
  for (const BoundRun& run : runs) {
    throughputs.push_back(run.throughput);
    kernel_ns.push_back(run.kernel_ns);
  }
  return {.cores = cores,
          .throughput = median_of(throughputs),
          .kernel_ns = median_of(std::move(kernel_ns)),
          .spread = spread_of(std::move(throughputs))};
}

std::string cores_text(int cores) { return counted(static_cast<std::uint64_t>(cores), "core"); }

}  // namespace

std::vector<CoreId> benchmark_order(std::span<const os::CoreInfo> cores) {
  std::map<int, int> seen;  // hardware threads of each physical core so far
  std::vector<std::pair<int, CoreId>> ranked;
  for (const os::CoreInfo& core : cores) ranked.emplace_back(seen[core.physical_core]++, core.core);
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<CoreId> result;
  for (const auto& [rank, core] : ranked) result.push_back(core);
  return result;
}

std::vector<int> usual_counts(int most) {
  std::vector<int> counts;
  const int step = std::max(1, (most - single_steps + 15) / 16);
  for (int count = 1; count < most; count += count < single_steps ? 1 : step) counts.push_back(count);
  counts.push_back(most);
  return counts;
}

Expected<OsCurve, std::string> measure_curve(const OsBenchmark& benchmark, const OsInputs& inputs,
                                             const OsMeasurement& measurement) {
  OsCurve curve{.benchmark = std::string(benchmark.name), .unit = std::string(benchmark.unit)};
  const auto prepare = [&] { return benchmark.prepare(inputs); };
  const int most = *std::max_element(measurement.counts.begin(), measurement.counts.end());
  std::map<int, std::vector<BoundRun>> runs;
  for (int round = 0; round < measurement.rounds; ++round)
    for (const int count : measurement.counts) {
      const auto before = count == most && !curve.locks ? contentions_now() : std::nullopt;
      const auto run =
          run_bound(std::span(measurement.cores).first(static_cast<std::size_t>(count)), measurement.time, prepare);
      if (!run) return run.error();
      if (before)
        curve.locks = longest_waits(*before, contentions_now().value_or(std::vector<LockContention>{}), shown_locks);
      runs[count].push_back(*run);
    }
  for (const int count : measurement.counts) curve.points.push_back(median_point(count, runs[count]));
  return curve;
}

std::vector<scale::ThroughputPoint> throughputs_of(const OsCurve& curve) {
  std::vector<scale::ThroughputPoint> points;
  for (const OsPoint& point : curve.points) points.push_back({point.cores, point.throughput});
  return points;
}

std::optional<scale::Spread> spread_of(std::vector<double> throughputs) {
  if (throughputs.size() < 2) return std::nullopt;
  std::sort(throughputs.begin(), throughputs.end());
  const std::size_t rank = std::max<std::size_t>(1, median_rank(throughputs.size()));
  return scale::Spread{.low = throughputs[rank - 1], .high = throughputs[throughputs.size() - rank]};
}

std::optional<int> collapse_of(const OsCurve& curve) {
  std::vector<scale::MeasuredPoint> points;
  for (const OsPoint& point : curve.points)
    points.push_back({.median = {point.cores, point.throughput}, .spread = point.spread});
  return scale::collapse_beyond_spread(points);
}

std::string collapse_text(const OsCurve& curve) {
  if (const auto collapse = collapse_of(curve)) return "throughput collapses at " + cores_text(*collapse);
  const auto fall = scale::collapse_point(throughputs_of(curve));
  if (!fall) return "throughput does not collapse";
  const bool has_spread = curve.points.front().spread.has_value();
  return "throughput is highest at " + cores_text(*fall) + " and then falls, but " +
         (has_spread ? "not beyond the spread of the rounds; measure again with more --rounds or --seconds"
                     : "one round shows no spread; measure again with --rounds 3 or more");
}

}  // namespace corelane::tool
