// Finds contracts whose jobs would wait for each other in longer queues than a task may have.
// Threads: any but real-time ones: it allocates.
#pragma once

#include <optional>
#include <string>

#include "orb/base/contract.h"

namespace corelane::core {

// Finds a fault that fault_of() does not find: deadline and jitter span more periods than jobs of a task may wait. No
// server admits such a contract. Returns a text with values that would do, or nothing.
std::optional<std::string> backlog_fault_of(const Contract& sound);

}  // namespace corelane::core
