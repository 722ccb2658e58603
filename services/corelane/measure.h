// What `corelane measure` does, apart from its options: collects execution times from recorded runs, shows them,
// proposes budgets and writes them into a contracts file.
// Threads: none of its own.
#pragma once

#include <chrono>
#include <iosfwd>
#include <string>
#include <vector>

#include "services/corelane/caller.h"
#include "services/corelane/format.h"
#include "services/corelane/table_basis.h"

namespace corelane::tool {

struct MeasureOptions {
  std::vector<std::string> files{};  // traces
  int request = 0;                   // the server to be asked for one; 0: none
  std::string run{};                 // a shell's command line that makes the calls before it is asked; empty: none
  CallPlan call{};                   // calls of our own before; empty reference: none
  GivenTerms given{};                // of the contract in `call`, the others are defaults
  std::string operation{};           // this one alone; empty: all
  std::string interface {};          // its repository id, where the trace does not tell it
  int margin = 20;                   // percent
  std::string write{};               // the contracts file to add to; empty: none
  Format format = Format::table;
  std::string directory{};               // the server's runtime.directory
  std::chrono::milliseconds wait{5000};  // for its answer
};

// Results on `out`, complaints on `err`. 0: all was done, and each operation fits below its deadline; 1: not.
int measure(const MeasureOptions& options, std::ostream& out, std::ostream& err);

}  // namespace corelane::tool
