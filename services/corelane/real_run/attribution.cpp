#include "services/corelane/real_run/attribution.h"

#include <algorithm>

namespace corelane::tool {
namespace {

using eval::MissCause;

enum class Execution : std::uint8_t { as_observed, within_budget };

std::vector<Duration> ends_of(std::span<const ObservedJob> jobs, ReplayCores cores, Execution execution) {
  std::vector<ReplayedJob> replayed;
  replayed.reserve(jobs.size());
  for (const ObservedJob& job : jobs)
    replayed.push_back(
        {.task = job.task,
         .release = job.release,
         .execution = execution == Execution::as_observed ? job.execution : std::min(job.execution, job.budget),
         .priority = job.priority,
         .core = job.core});
  return finish_times(replayed, cores);
}

}  // namespace

std::vector<MissCause> causes_of(std::span<const ObservedJob> jobs, ReplayCores cores) {
  std::vector<MissCause> causes(jobs.size(), MissCause::unknown);
  if (std::ranges::none_of(jobs, &ObservedJob::is_late)) return causes;
  const auto without_gaps = ends_of(jobs, cores, Execution::as_observed);
  const auto within_budgets = ends_of(jobs, cores, Execution::within_budget);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const ObservedJob& job = jobs[i];
    if (!job.is_late()) continue;
    if (without_gaps[i] > job.deadline)
      causes[i] = within_budgets[i] > job.deadline ? MissCause::scheduling : MissCause::overrun;
    else if (job.longest_gap >= job.end - job.deadline)
      causes[i] = MissCause::host;
  }
  return causes;
}

}  // namespace corelane::tool
