#include "orb/rt/current.h"

#include "orb/dispatch/current.h"
#include "orb/os/clock.h"

namespace corelane::rt {

Duration Current::slack() const noexcept { return deadline == never ? Duration::max() : deadline - os::now(); }

Current current() noexcept {
  const dispatch::CurrentJob* job = dispatch::current_job();
  if (job == nullptr) return {};
  const dispatch::JobContext& context = job->context;
  return {.task = context.task,
          .job = context.job,
          .core = context.core,
          .release = context.release,
          .deadline = context.deadline,
          .budget = context.budget,
          .stop = StopToken(job->stop)};
}

}  // namespace corelane::rt
