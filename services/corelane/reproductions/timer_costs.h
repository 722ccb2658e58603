// Measures what firm timers cost a thread that computes (Goel et al., OSDI 2002). The timers have a period of 1 ms.
// Their number and their overshoot vary. The thread does a soft check after each piece of its work. The hard timer
// wakes a thread above it, on the same core.
// Threads: see experiment.h. It starts threads.
#pragma once

#include "services/corelane/reproductions/experiment.h"

namespace corelane::tool::reproductions {

extern const Experiment timer_costs;

}  // namespace corelane::tool::reproductions
