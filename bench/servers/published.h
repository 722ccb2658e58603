// Published examples of servers, in real time on one core.
#pragma once

#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace servers {

// Prints what two servers got beside what is published: VCPU0 (10, 40) from 1 on above VCPU1 (20, 50), which has work
// of 18 at 0 and 40, and of 20 at 90. By POSIX' rule VCPU1 runs for 27 in [51, 101), by the corrected one for 22.
void print_replenishment(corelane::CoreId core, corelane::Duration unit);

// Prints what VCPUs (1, 4), (2, 5), (2, 8), (1, 10), which use up the core, get beside 10 % of I/O on behalf of the
// third: it takes its time from the fourth only. `length`: how long each of the two runs takes.
void print_io(corelane::CoreId core, corelane::Duration unit, corelane::Duration length);

}  // namespace servers
