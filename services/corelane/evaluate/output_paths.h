// Checks where an experiment is to write its outputs, before anything runs.
// Threads: any. Reads the file system and changes nothing.
#pragma once

#include <string>

#include "services/corelane/evaluate/evaluate.h"

namespace corelane::tool {

// Returns which output would overwrite the scenario or another output, or cannot be written; "" if none. `output`: the
// file of results.
std::string fault_of_outputs(const EvaluateOptions& options, const std::string& output);

}  // namespace corelane::tool
