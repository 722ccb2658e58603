// `corelane eval` runs an experiment: every combination of a scenario's sweeps, many sets of tasks each, under several
// dispatchers. It keeps the results in a file, and compares the dispatchers. The options are defined in
// eval_command.cpp.
// Threads: see set_runner.h; reads and writes files.
//
// The folder services/corelane/evaluate runs experiments.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "services/corelane/evaluate/set_runner.h"

namespace corelane::tool {

struct EvaluateOptions {
  std::string file{};
  std::string mode = "virtual";  // or "real"
  bool quick = false;            // only three combinations, four sets and two dispatchers
  std::string output{};          // the CSV file; empty: the file's name with .csv, in the present directory
  std::string report{};          // the HTML file; empty: none
  std::string figures{};         // a directory for the figures as SVG files; empty: none
  bool pdf = false;              // also writes the figures as PDF files
  std::optional<std::int64_t> repetitions{};  // in place of the file's
  int threads = 0;                            // of virtual runs; 0: as many as this process has cores
  std::string version{};                      // of Corelane
  std::vector<std::string> orb_options{};     // the settings of the server
};

struct Evaluation {
  RunFunction run{};  // runs one set under one dispatcher
  // Says why `run` would refuse a request, before anything runs; "" if it would not. Empty: it refuses none.
  std::function<std::string(const eval::RunRequest& request)> fault_of{};
  std::function<bool()> is_to_stop{};  // is asked between runs, on any thread; `run` may ask it, too
  bool shows_progress = true;          // on `err`
};

// Writes the comparison to `out`, progress and complaints to `err`. Returns 0 if all is done, and 2 if the input is
// wrong. Returns 1 if it was stopped, if the file of results cannot be written further, or if an admitted task missed a
// deadline in virtual time.
int evaluate(const EvaluateOptions& options, const Evaluation& evaluation, std::ostream& out, std::ostream& err);

}  // namespace corelane::tool
