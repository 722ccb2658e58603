// Quick processor-demand analysis (orb/sched/analysis/demand.h). It is exact for the earliest deadline first. On cores
// that run so, it decides whatever the admission test is. With this test, all cores do.
#include "orb/sched/admission_test.h"

namespace corelane::sched::admission {

extern const AdmissionTest processor_demand{
    .name = "qpa",
    .help = "all cores run the earliest deadline first, and the demand of each one is analyzed",
    .scheduling = Scheduling::deadlines,
    .usable_in = outside_servers,
    .instead = "name cores in pool.deadline_cores, where this analysis decides",
};

}  // namespace corelane::sched::admission
