// Says where an experiment writes its outputs, and checks these paths before anything runs.
// Threads: any. Reads the file system and changes nothing.
#pragma once

#include <string>

#include "services/corelane/evaluate/evaluate.h"

namespace corelane::tool {

// The end of the names of a run with --quick, so that its results do not mix with those of the whole experiment.
inline constexpr const char* quick_suffix = "-quick";

// Returns the path of the file of results: options.output, or else the scenario's name with .csv, in the present
// directory. With options.quick, quick_suffix stands before .csv.
std::string output_of(const EvaluateOptions& options);

// Returns which output would overwrite the scenario or another output, or cannot be written; "" if none. `output`: the
// file of results.
std::string fault_of_outputs(const EvaluateOptions& options, const std::string& output);

}  // namespace corelane::tool
