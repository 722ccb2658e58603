// The policies that a scenario may name, and where each works, as a document shows them.
// Threads: pure. Allocates.
#pragma once

#include <string>

namespace corelane::eval {

// Returns tables in Markdown, for docs/scheduling.md.
std::string policy_documentation();

}  // namespace corelane::eval
