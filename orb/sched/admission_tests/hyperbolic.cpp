// The hyperbolic bound of Bini, Buttazzo & Buttazzo 2001.
#include "orb/sched/admission_test.h"
#include "orb/sched/analysis/bounds.h"

namespace corelane::sched::admission {

extern const AdmissionTest hyperbolic{
    .name = "hyperbolic",
    .help = "the product of (1 + utilization) over all tasks of a core is at most 2",
    .holds = sched::hyperbolic,
};

}  // namespace corelane::sched::admission
