// The overheads of a plan or a run, as text and as JSON.
// Threads: pure functions. They allocate.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "orb/eval/run_overheads.h"

namespace corelane::tool {

// Returns a line that says which overheads the analysis charges; "" if there are none.
std::string overheads_line(const eval::RunOverheads& overheads);

// Returns an object with the cost of one occurrence of each kind, in nanoseconds, and with what is charged.
nlohmann::ordered_json overheads_json(const eval::RunOverheads& overheads);

}  // namespace corelane::tool
