// Shows measured operations as tables and as JSON.
// Threads: pure. Allocates.
#pragma once

#include <string>
#include <vector>

#include "services/corelane/measure/measure.h"
#include "services/corelane/measure/measured_operation.h"

namespace corelane::tool {

// Returns all operations in options.format, each with the entry that it proposes. Times in JSON are in nanoseconds.
std::string measured_text(const std::vector<MeasuredOperation>& found, const MeasureOptions& options);

}  // namespace corelane::tool
