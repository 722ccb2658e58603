// Reads throughputs that were measured with several numbers of cores, as `corelane scale os --format csv` writes them.
// Threads: pure. Allocates.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orb/base/expected.h"
#include "orb/scale/throughput_curve.h"

namespace corelane::tool {

// Returns the points of one benchmark from text with the columns `cores` and `throughput` (units of work per second).
// If the text has the column `benchmark`, `benchmark` chooses the rows; it may be empty if the text has one alone.
// Other columns do not count. The error is a message that begins with `path`.
Expected<std::vector<scale::ThroughputPoint>, std::string> throughputs_in(std::string_view text,
                                                                          const std::string& path,
                                                                          const std::string& benchmark);

}  // namespace corelane::tool
