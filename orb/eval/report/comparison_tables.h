// The tables of an experiment: misses beside published figures, admission, and the comparisons of policies and with the
// baseline.
// Threads: pure functions. They allocate.
#pragma once

#include <string>
#include <vector>

#include "orb/eval/report/table.h"
#include "orb/eval/scenario.h"
#include "orb/eval/statistics/comparison.h"

namespace corelane::eval {

// Returns the tables in the order in which a reader needs them. `published` has a value for each cell. If it has fewer,
// there are several configurations, and one table compares them (configuration_table.h).
std::vector<Table> tables_of(const ExperimentSummary& summary, const std::vector<Published>& published);

}  // namespace corelane::eval
