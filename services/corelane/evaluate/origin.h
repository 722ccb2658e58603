// Describes where results come from: the facts without which two figures cannot be compared.
// Threads: reads the host's files.
#pragma once

#include <string>

namespace corelane::tool {

// Returns the number of processors that this process may use, and their model, such as "4 cores, Intel Xeon".
std::string machine_text();

// Returns the release of the running kernel, such as "6.1.0-44-amd64".
std::string kernel_text();

}  // namespace corelane::tool
