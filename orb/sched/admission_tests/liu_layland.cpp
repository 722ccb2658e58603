// The utilization bound of Liu & Layland 1973.
#include "orb/sched/admission_test.h"
#include "orb/sched/analysis/bounds.h"

namespace corelane::sched::admission {

extern const AdmissionTest liu_layland{
    .name = "liu-layland",
    .help = "the utilization of the n tasks of a core is at most n (2^(1/n) - 1)",
    .holds = sched::liu_layland,
};

}  // namespace corelane::sched::admission
