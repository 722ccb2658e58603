// Firm timers for releases: how late early jobs begin, and how many of them need a timer of their own.
#pragma once

#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace servers {

// Three tasks on the core, whose every job comes before its time and waits, for `length`; without and with `overshoot`.
void print_firm(corelane::CoreId core, corelane::Duration length, corelane::Duration overshoot);

}  // namespace servers
