#pragma once

#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace servers {

// A flood of contracts that do not fit, beside an admitted task on the manager's core: the task's responses beside its
// bound, without and with the flood. `core`: of the executive; the flood comes from any.
void print_newcomers(corelane::CoreId core, corelane::Duration length);

}  // namespace servers
