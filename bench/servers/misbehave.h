#pragma once

#include "orb/base/time.h"

namespace servers {

// One task of a full core misbehaves in each way and under each policy, on a core scheduled by priorities and on one
// scheduled by deadlines. Prints the other tasks' responses beside the bounds that the analysis promised. Needs two
// cores.
void print_misbehaviour(corelane::Duration length);

}  // namespace servers
