// Writes the results of a run as text and as JSON.
// Threads: pure functions. They allocate.
#pragma once

#include <string>

#include "orb/eval/run.h"
#include "services/corelane/output/format.h"

namespace corelane::tool {

std::string text_of(const eval::RunRequest& request, const eval::RunOutcome& outcome, Format format);

}  // namespace corelane::tool
