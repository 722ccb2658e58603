// The aperiodic utilization bound (Abdelzaher, Sharma & Lu 2004) with admission per task: a periodic task reserves its
// synthetic utilization for its whole life. The other policies of Zhang, Gill & Lu 2008 decide about single jobs: see
// orb/sched/analysis/synthetic_utilization.h.
#include <array>
#include <span>

#include "orb/sched/admission_test.h"
#include "orb/sched/analysis/bounds.h"
#include "orb/sched/share.h"

namespace corelane::sched::admission {
namespace {

bool holds(std::span<const Usage> tasks) noexcept {
  Share sum = 0;
  for (const Usage& task : tasks)
    if ((sum += share_of(task.budget, task.period)) >= whole_share) return false;
  return aperiodic_bound(std::array{ppm_of(sum)});
}

}  // namespace

extern const AdmissionTest aperiodic_utilization{
    .name = "aub",
    .help = "the aperiodic utilization bound: the synthetic utilization of a core is at most 0.5857",
    .holds = holds,
};

}  // namespace corelane::sched::admission
