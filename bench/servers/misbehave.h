#pragma once

#include "orb/base/time.h"

namespace servers {

// One task of a full core misbehaves in each way and under each policy, on a core by priorities and on one by
// deadlines; what that does to the others, beside what the analysis promised them. Needs two cores.
void print_misbehaviour(corelane::Duration length);

}  // namespace servers
