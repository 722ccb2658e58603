// overheads() runs an overheads file (overheads_file.h) on this host and prints ours beside the published figures.
// Threads: see decision_costs.h.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "orb/eval/report/table.h"
#include "services/corelane/real_run/overheads/decision_stages.h"
#include "services/corelane/real_run/overheads/overheads_file.h"

namespace corelane::tool {

struct OverheadsOptions {
  std::string host{};                  // the machine, for the heading
  std::function<bool()> is_to_stop{};  // empty: never
};

// Writes the table to `out`, and complaints and progress to `err`. Returns 0 if all was measured, otherwise 1.
int overheads(const OverheadsFile& file, const OverheadsOptions& options, std::ostream& out, std::ostream& err);

// What was measured in one row of the file.
struct MeasuredOverhead {
  OverheadsFile::Row row;
  DecisionStages stages;
};

// Returns the figures in us. Those of the stages are medians.
eval::Table overheads_table(const OverheadsFile& file, const std::vector<MeasuredOverhead>& measured);

}  // namespace corelane::tool
