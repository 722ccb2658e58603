// Firm timers for releases: how late early jobs begin, and how many of them need a timer of their own.
#pragma once

#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace servers {

// Runs three tasks on the core for `length`, without and with `overshoot`. Each of their jobs arrives before its
// release and waits.
void print_firm(corelane::CoreId core, corelane::Duration length, corelane::Duration overshoot);

}  // namespace servers
