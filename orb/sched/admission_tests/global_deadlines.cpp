// The bound of Goossens, Funk & Baruah 2003 for global scheduling by deadlines. With deadlines below the periods, the
// density C / D takes the place of the utilization (Bertogna, Cirinei & Lipari 2005).
#include <algorithm>
#include <span>

#include "orb/sched/admission_test.h"
#include "orb/sched/analysis/bounds.h"

namespace corelane::sched::admission {
namespace {

bool holds(std::span<const SporadicTask> tasks, int cores, std::span<Ticks> responses) noexcept {
  if (!goossens_funk_baruah(tasks, cores)) return false;
  std::ranges::transform(tasks, responses.begin(), &SporadicTask::deadline);
  return true;
}

}  // namespace

extern const AdmissionTest global_deadlines{
    .name = "gfb",
    .help =
        "all cores together run the earliest deadline first; the density of all tasks is at most m - (m - 1) times "
        "the greatest one",
    .scheduling = Scheduling::global_deadlines,
    .usable_in = outside_servers,
    .instead = "a server binds tasks to cores, so use response-time",
    .holds_globally = holds,
};

}  // namespace corelane::sched::admission
