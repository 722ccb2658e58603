#pragma once

#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace servers {

// Requests admission for contracts that do not fit, beside an admitted task on the manager's core. Prints the task's
// responses beside its bound, without and with this flood. `core`: of the executive; the flood comes from any core.
void print_admissions(corelane::CoreId core, corelane::Duration length);

}  // namespace servers
