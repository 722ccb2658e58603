// `corelane scale locksim` predicts the throughput of cores that share one lock, from given times or from measured
// throughput. The options are defined in scale_command.cpp.
// Threads: none of its own.
//
// The folder services/corelane/scale measures and predicts how programs scale with the number of cores.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "orb/base/time.h"
#include "orb/scale/lock_simulation.h"
#include "services/corelane/scale/curve_format.h"

namespace corelane::tool {

struct LocksimOptions {
  std::optional<Duration> outside{};           // T_ncs
  std::optional<Duration> section{};           // T_cs
  Duration hand_over{};                        // c
  std::vector<int> cores{};                    // ascending, each 1 or more; empty: 1 to 32
  std::optional<scale::SectionTimes> times{};  // simulate, too; nothing: only the exact solution
  std::uint64_t seed = 1;                      // of the simulation
  std::string fit{};                           // a file with measured throughput, to fit the model to; empty: none
  std::string benchmark{};                     // the rows of that file; empty: all
  CurveFormat format = CurveFormat::table;
};

// Writes the points to `out` and complaints to `err`. Returns 0 if there are points, 1 if the measurements of `fit` are
// too few for a prediction, 2 if the input is wrong.
int locksim(const LocksimOptions& options, std::ostream& out, std::ostream& err);

}  // namespace corelane::tool
