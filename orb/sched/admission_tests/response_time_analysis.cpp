// The response-time analysis (orb/sched/response_time.h). It is exact for fixed priorities.
#include "orb/sched/admission_test.h"

namespace corelane::sched::admission {

extern const AdmissionTest response_time{
    .name = "response-time",
    .help = "computes the longest response of each task that the new one can delay",
};

}  // namespace corelane::sched::admission
