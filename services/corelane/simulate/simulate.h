// `corelane simulate` runs the tasks of a scenario in virtual time, with the server's own decisions, and shows which
// deadlines are met. The options are defined in simulate_command.cpp.
// Threads: none of its own; reads and writes files.
//
// The folder services/corelane/simulate runs one set of tasks in virtual time.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "orb/base/time.h"
#include "services/corelane/output/format.h"

namespace corelane::tool {

struct SimulateOptions {
  std::string file{};
  std::string dispatcher{};          // empty: see single_dispatcher_of()
  std::optional<Duration> length{};  // in place of the file's
  std::optional<int> cores{};        // likewise
  // From 1: all repetitions of the first combination of swept values, then those of the second, and so on. Nothing: the
  // first set of a file without sweeps.
  std::optional<int> set{};
  std::string jobs{};  // a CSV file for each job; empty: none
  Format format = Format::table;
  std::vector<std::string> orb_options{};  // the settings of the server
  std::function<bool()> is_to_stop{};      // is asked during the run; empty: never
};

// Writes what came of the tasks to `out` and complaints to `err`. Returns 0 if every task is admitted and every
// deadline is met, 1 if not or if the run was stopped, and 2 if the input is wrong. A run that was stopped shows
// nothing and leaves no file of jobs.
int simulate(const SimulateOptions& options, std::ostream& out, std::ostream& err);

}  // namespace corelane::tool
