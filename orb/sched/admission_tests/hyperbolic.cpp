// The hyperbolic bound of Bini, Buttazzo & Buttazzo 2001, before the response-time analysis.
#include "orb/sched/admission_test.h"
#include "orb/sched/analysis/bounds.h"

namespace corelane::sched::admission {

extern const AdmissionTest hyperbolic{
    .name = "hyperbolic",
    .help =
        "admits at once what the hyperbolic bound admits if deadlines are periods and nothing else delays a task, "
        "and asks response-time about the rest",
    .holds = [](const TestedCore& core) noexcept { return core.is_classical && sched::hyperbolic(core.tasks); },
};

}  // namespace corelane::sched::admission
