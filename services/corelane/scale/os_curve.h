// Measures a micro-benchmark of the kernel with several numbers of cores.
// Threads: none of its own; starts processes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/os/machine/topology.h"
#include "orb/scale/throughput_curve.h"
#include "services/corelane/scale/lock_contention.h"
#include "services/corelane/scale/os_benchmarks.h"

namespace corelane::tool {

struct OsPoint {
  int cores = 1;
  double throughput = 0;  // units of work per second, of all processes together: the median of the rounds
  double kernel_ns = 0;   // CPU time in the kernel for each unit: the median of the rounds
  std::optional<scale::Spread> spread{};  // of the throughputs; see spread_of()
};

struct OsCurve {
  std::string benchmark{};
  std::string unit{};
  std::vector<OsPoint> points{};  // in the order of the wanted counts
  // The kernel's locks that waited longest while the most processes ran. No value if the kernel does not tell.
  std::optional<std::vector<LockContention>> locks{};
};

// How to measure.
struct OsMeasurement {
  std::vector<CoreId> cores{};  // the order in which they are used
  std::vector<int> counts{};    // numbers of cores, each from 1 to the size of `cores`
  Duration time{};              // of each run
  int rounds = 1;               // each count runs once in every round
};

// Returns the cores in the order in which benchmarks use them: first one hardware thread of each physical core, then
// the others.
std::vector<CoreId> benchmark_order(std::span<const os::CoreInfo> cores);

// Returns the numbers of cores to measure: each up to 8, then about 16 more up to `most`, which is always the last.
std::vector<int> usual_counts(int most);

// Runs the benchmark. The error says why a process failed.
Expected<OsCurve, std::string> measure_curve(const OsBenchmark& benchmark, const OsInputs& inputs,
                                             const OsMeasurement& measurement);

// Returns the throughputs alone.
std::vector<scale::ThroughputPoint> throughputs_of(const OsCurve& curve);

// Returns the spread of the throughputs of all rounds: from the lowest to the highest one. From 10 rounds on, a few
// rounds at both ends do not count: it is the interval of median_rank(). One round has no spread.
std::optional<scale::Spread> spread_of(std::vector<double> throughputs);

// Returns the number of cores at which throughput collapses: see scale::collapse_beyond_spread().
std::optional<int> collapse_of(const OsCurve& curve);

// Returns a sentence that says whether throughput collapses, and what to do where the rounds do not show it.
std::string collapse_text(const OsCurve& curve);

}  // namespace corelane::tool
