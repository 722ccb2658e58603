// The JSON schema of scenario files, for editors.
// Threads: pure. Allocates.
#pragma once

#include <string>

namespace corelane::tool {

// Returns the schema as text. It is made from the tables of the reader; see orb/eval/scenario_fields.h.
std::string scenario_schema();

}  // namespace corelane::tool
