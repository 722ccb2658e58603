// The tables of an experiment: misses beside published figures, admission, and the comparison with the baseline.
// Threads: pure functions. They allocate.
#pragma once

#include <string>
#include <vector>

#include "orb/eval/comparison.h"
#include "orb/eval/scenario.h"
#include "orb/eval/table.h"

namespace corelane::eval {

// Returns the tables in the order in which a reader needs them. `published` has one value for each cell, or fewer:
// missing ones are shown as "-".
std::vector<Table> tables_of(const ExperimentSummary& summary, const std::vector<Published>& published);

}  // namespace corelane::eval
