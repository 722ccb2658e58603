// Formats a record of a trace as a line for people: what sched::text_of() writes as numbers, with units and names.
// Threads: pure. Allocates.
#pragma once

#include <string>

#include "orb/sched/trace/trace.h"

namespace corelane::tool {

// Returns "run job=7 task=3 priority=2 released=1500 deadline=9500", "watch job=7 task=3 budget=2ms". Instants are
// nanoseconds of the monotonic clock, and durations have their exact value with a unit.
std::string text_for_people(const sched::TraceView& record);

}  // namespace corelane::tool
