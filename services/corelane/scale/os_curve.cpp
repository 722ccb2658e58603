#include "services/corelane/scale/os_curve.h"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

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
  return {
      .cores = cores, .throughput = median_of(std::move(throughputs)), .kernel_ns = median_of(std::move(kernel_ns))};
}

}  // namespace

std::vector<CoreId> spread(std::span<const os::CoreInfo> cores) {
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

}  // namespace corelane::tool
