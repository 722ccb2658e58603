// No admission control, for comparisons: `--no-admission` of the demo, and experiments that overload a core.
#include "orb/sched/admission_test.h"

namespace corelane::sched::admission {

extern const AdmissionTest none{
    .name = "none",
    .help = "admits every task, whether its deadlines hold or not",
    .promises = false,
};

}  // namespace corelane::sched::admission
