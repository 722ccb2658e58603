// `corelane measure` collects execution times from recorded runs, shows them, proposes budgets and writes them into a
// contracts file. The options are defined in measure_command.cpp.
// Threads: none of its own.
//
// The folder services/corelane/measure finds budgets by measuring recorded runs.
#pragma once

#include <chrono>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "services/corelane/measure/caller.h"
#include "services/corelane/measure/table_basis.h"
#include "services/corelane/output/format.h"

namespace corelane::tool {

struct MeasureOptions {
  std::vector<std::string> files{};   // traces
  int request = 0;                    // the server to ask for a trace; 0: none
  std::string run{};                  // a shell command line that makes the calls before that; empty: none
  CallPlan call{};                    // calls that the command makes itself before that; empty reference: none
  std::vector<std::string> beside{};  // shell commands; each runs meanwhile in a further series of calls
  // The tasks whose work these commands do, in the same order; empty: their slowdowns are named by the commands.
  std::vector<std::string> beside_tasks{};
  std::string task{};        // the task of these slowdowns; empty: they are named by the operation
  std::string slowdowns{};   // the file to add these slowdowns to; empty: none
  GivenTerms given{};        // the given terms of the contract in `call`; the others are defaults
  std::string operation{};   // only this one; empty: all
  std::string interface {};  // its repository id, if the trace does not have it
  int margin = 20;           // percent
  std::string write{};       // the contracts file to add to; empty: none
  Format format = Format::table;
  std::string directory{};               // the server's runtime.directory
  std::chrono::milliseconds wait{5000};  // the timeout for its answer
  std::function<bool()> is_to_stop{};    // is asked during the calls; empty: never stops
};

// Writes results to `out` and complaints to `err`. Returns 0 if all was done and each operation fits below its
// deadline; otherwise 1. If it was to stop during the calls, it writes no file.
int measure(const MeasureOptions& options, std::ostream& out, std::ostream& err);

}  // namespace corelane::tool
