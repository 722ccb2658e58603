// `corelane scale os` measures how services of the kernel scale with the number of cores. The options are defined in
// scale_command.cpp.
// Threads: none of its own; starts processes.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "orb/base/time.h"
#include "services/corelane/scale/curve_format.h"

namespace corelane::tool {

struct ScaleOsOptions {
  std::vector<std::string> only{};                 // names of benchmarks; empty: all
  std::vector<int> cores{};                        // numbers of cores, ascending; empty: 1 to all
  Duration time = std::chrono::milliseconds{500};  // of each run
  int rounds = 3;
  std::uint64_t file_size = 500ULL << 20;  // bytes, of the file of the benchmark mmap
  std::string html{};                      // a file for a page with the curves; empty: none
  CurveFormat format = CurveFormat::table;
};

// Returns the names of the benchmarks.
std::vector<std::string> names_of_os_benchmarks();

// Writes curves to `out` and complaints to `err`. Returns 0 if all was measured, 1 if a benchmark failed or `html`
// cannot be written, 2 if the input is wrong.
int scale_os(const ScaleOsOptions& options, std::ostream& out, std::ostream& err);

}  // namespace corelane::tool
