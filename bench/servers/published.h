// Published examples of servers, in real time on one core.
#pragma once

#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace servers {

// Prints what two servers got, compared with the published values. VCPU0 (10, 40) runs from time 1 on, above VCPU1 (20,
// 50), which has work of 18 at 0 and 40, and of 20 at 90. With POSIX' rule VCPU1 runs for 27 in [51, 101), with the
// corrected rule for 22.
void print_replenishment(corelane::CoreId core, corelane::Duration unit);

// Prints what four VCPUs get beside 10 % of I/O on behalf of the third. The VCPUs (1, 4), (2, 5), (2, 8) and (1, 10)
// together use up the core, and the I/O takes its time only from the fourth. `length`: the time of each of the two
// runs.
void print_io(corelane::CoreId core, corelane::Duration unit, corelane::Duration length);

}  // namespace servers
