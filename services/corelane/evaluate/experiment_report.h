// Makes the heading and the report of an experiment that `corelane eval` has run.
// Threads: any but real-time ones: the functions allocate, and write_report() writes files.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "orb/eval/report/report.h"
#include "orb/eval/report/table.h"
#include "orb/eval/scenario.h"
#include "orb/eval/statistics/comparison.h"
#include "services/corelane/evaluate/evaluate.h"
#include "services/corelane/evaluate/loaded_experiment.h"

namespace corelane::tool {

// Returns what a reader has to know before the figures: the mode, the cores, the sets, the policies and the overheads.
std::string heading_of(const LoadedExperiment& experiment, const eval::ExperimentSummary& summary);

// Returns the scenario of each combination.
std::vector<eval::Scenario> scenarios_of(const LoadedExperiment& experiment);

// Returns the input of eval::report_of(). `options` and `experiment` must outlive it. Once `is_to_stop` returns true,
// the report runs no more examples.
eval::ReportInput report_input(const EvaluateOptions& options, const LoadedExperiment& experiment,
                               const std::string& heading, const eval::ExperimentSummary& summary,
                               std::vector<eval::Table> tables, const std::function<bool()>& is_to_stop);

// Writes the report and its figures where the options say. Returns what is wrong; "" if nothing is.
std::string write_report(const EvaluateOptions& options, const eval::Report& report);

}  // namespace corelane::tool
