// Measures what it costs to move a thread to another core, in three ways.
// Threads: each function starts its own and waits for them.
#pragma once

#include "orb/base/ids.h"
#include "services/corelane/host_card/together.h"

namespace corelane::tool {

// A running thread changes its own affinity, to and fro between two cores, until it runs on the other one.
CostSamples migrate_itself(CoreId one, CoreId other, int moves);

// A manager thread on `managing` moves a running thread between `one` and `other`, until that thread runs there. If
// `managing` is `other`, only moves to `other` count: a thread cannot run on the core from which the manager moves it.
CostSamples migrate_running(CoreId one, CoreId other, CoreId managing, int moves);

// A manager thread on `managing` moves a sleeping thread between the cores, until the call returns.
CostSamples migrate_sleeping(CoreId one, CoreId other, CoreId managing, int moves);

}  // namespace corelane::tool
