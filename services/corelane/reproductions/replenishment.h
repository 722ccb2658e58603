// Repeats the published example of premature replenishment (Danish, Li & West, RTAS 2011). VCPU0 (10, 40) has work from
// 1 on, above VCPU1 (20, 50), which has work of 18 at 0 and at 40, and of 20 at 90. By POSIX' rule VCPU1 runs for 27 in
// [51, 101), which is more than its budget of 20 allows in a period. By the corrected rule it runs for 22.
// Threads: pure functions, except the experiment on this host. They allocate.
#pragma once

#include <cstdint>

#include "services/corelane/reproductions/experiment.h"

namespace corelane::tool::reproductions {

// Return how long VCPU1 runs in [from, to), in the units of the example.
std::int64_t units_by_posix_rule(std::int64_t from, std::int64_t to);
std::int64_t units_by_corrected_rule(std::int64_t from, std::int64_t to);

extern const Experiment replenishment, replenishment_real;

}  // namespace corelane::tool::reproductions
