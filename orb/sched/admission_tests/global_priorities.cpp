// Response times of global fixed priorities (orb/sched/analysis/global.h).
#include "orb/sched/admission_test.h"
#include "orb/sched/analysis/global.h"

namespace corelane::sched::admission {

extern const AdmissionTest global_priorities{
    .name = "global-fp",
    .help = "all cores together run by fixed priorities; a bound of each response is computed",
    .scheduling = Scheduling::global_priorities,
    .usable_in = outside_servers,
    .instead = "a server binds tasks to cores, so use response-time",
    .holds_globally = global_response_times,
};

}  // namespace corelane::sched::admission
