// perfetto_of() converts a recorded run into a Perfetto trace (TrackEvent packets), for https://ui.perfetto.dev.
//
// Tracks:
// - the manager, with its decisions;
// - each core, with the job that its CoreScheduler ran there, and its admitted utilization as a counter;
// - each task, with its jobs as slices, and its releases, misses, overruns and refusals as instants.
//
// Field numbers: perfetto.dev/docs/reference/trace-packet-proto and synthetic-track-event.
//
// Threads: pure. Allocates.
#pragma once

#include <string>

#include "orb/sched/trace/trace_file.h"

namespace corelane::tool {

// Returns the bytes of the file.
std::string perfetto_of(const sched::TraceFile& trace);

}  // namespace corelane::tool
