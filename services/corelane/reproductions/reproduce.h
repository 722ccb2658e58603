// reproduce() runs a reproduction file (reproduction_file.h) and prints ours beside the published values.
// Threads: experiments on this host start threads and wait for them.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

#include "orb/eval/report/table.h"
#include "services/corelane/reproductions/reproduction_file.h"

namespace corelane::tool::reproductions {

struct ReproduceOptions {
  std::optional<ExperimentTime> only{};  // run only the experiments of this kind; nothing: all
  bool quick = false;                    // a tenth of each length
  std::string host{};                    // the machine, for the notes
  std::function<bool()> is_to_stop{};    // empty: never
};

// Writes a table for each experiment to `out`, and complaints and progress to `err`. Returns 0 if all was run,
// otherwise 1.
int reproduce(const ReproductionFile& file, const ReproduceOptions& options, std::ostream& out, std::ostream& err);

// Returns the values, and beside them the published ones of those columns that have any. `values` has all rows of the
// experiment.
eval::Table reproduction_table(const ReproductionFile::Entry& entry, const ExperimentValues& values);

}  // namespace corelane::tool::reproductions
