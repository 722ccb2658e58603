// The scheduling classes that pthreads do not know: SCHED_DEADLINE, and back to the ordinary one. sched_setattr(2).
// Threads: any. Results are 0 or an errno.
#pragma once

#include "orb/base/time.h"

namespace corelane::os {

// `thread`: a tid; 0 is the caller. The budget in every period, before all other threads; what it forks is ordinary.
// EPERM without CAP_SYS_NICE, or where its affinity is less than its root domain; EBUSY where no such share is left.
int set_deadline_class(int thread, Duration budget, Duration period) noexcept;
// SCHED_OTHER, nice 0.
int set_ordinary_class(int thread) noexcept;

}  // namespace corelane::os
