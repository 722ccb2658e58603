// Adds measured operations to a contracts file.
// Threads: none of its own; reads and writes the file.
#pragma once

#include <vector>

#include "services/corelane/measure/measure.h"
#include "services/corelane/measure/measured_operation.h"
#include "services/corelane/trace/trace_source.h"

namespace corelane::tool {

// Returns whether the file options.write can be read and replaced, as far as that is known before anything is measured.
// Complains if not. Changes nothing.
bool may_write_contracts(const MeasureOptions& options, const Complaints& complaints);

// Adds the proposals to the file options.write, and makes it if there is none. Tables that the file has already stay as
// they are. A proposal that no contract can have becomes a comment. Returns whether each proposal is in the file and is
// not a comment; complains about the others.
bool write_contracts(const MeasureOptions& options, const std::vector<MeasuredOperation>& found,
                     const Complaints& complaints);

}  // namespace corelane::tool
