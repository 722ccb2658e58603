#include "services/corelane/real_run/counterfactual.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "orb/sim/job_source.h"
#include "orb/sim/multicore_simulator.h"

namespace corelane::tool {
namespace {

// The simulated tasks. A task whose jobs ran on several cores is a task of its own on each of them.
class ReplayedTasks {
 public:
  ReplayedTasks(std::span<const ReplayedJob> jobs, ReplayCores cores) {
    for (const ReplayedJob& job : jobs) cores_.insert(job.core);
    for (std::size_t i = 0; i < jobs.size(); ++i) add(i, jobs[i], cores);
  }

  sim::MulticoreOptions options(ReplayCores cores) const {
    const auto count = static_cast<std::int32_t>(cores_.size());
    return {.cores = count, .cluster = cores == ReplayCores::any ? count : 1};
  }
  const std::vector<sim::MulticoreTask>& tasks() const { return tasks_; }
  std::vector<std::vector<sim::JobRelease>> releases() const { return releases_; }
  // Returns the index of the job that is number `number` of simulated task `task`.
  std::size_t index_of(std::size_t task, std::uint64_t number) const {
    return indices_[task][static_cast<std::size_t>(number)];
  }

 private:
  void add(std::size_t index, const ReplayedJob& job, ReplayCores cores) {
    const CoreId core{static_cast<std::int16_t>(
        cores == ReplayCores::any ? 0 : std::distance(cores_.begin(), cores_.find(job.core)))};
    const auto [known, is_new] = by_task_.try_emplace({job.task, core}, tasks_.size());
    if (is_new) {
      // Deadlines have no effect: the order is by priorities.
      tasks_.push_back({.deadline = Duration{1}, .priority = job.priority, .core = core});
      releases_.emplace_back();
      indices_.emplace_back();
    }
    releases_[known->second].push_back({.nominal = Time{job.release}, .demand = job.execution});
    indices_[known->second].push_back(index);
  }

  std::set<CoreId> cores_;
  std::map<std::pair<std::size_t, CoreId>, std::size_t> by_task_;
  std::vector<sim::MulticoreTask> tasks_;
  std::vector<std::vector<sim::JobRelease>> releases_;
  std::vector<std::vector<std::size_t>> indices_;
};

class Ends final : public sim::JobObserver {
 public:
  Ends(const ReplayedTasks& tasks, std::size_t jobs) : tasks_(tasks), ends_(jobs) {}
  void finished(const sim::FinishedJob& job) override {
    ends_[tasks_.index_of(job.task, job.number)] = job.finish.time_since_epoch();
  }
  std::vector<Duration> take() { return std::move(ends_); }

 private:
  const ReplayedTasks& tasks_;
  std::vector<Duration> ends_;
};

// Returns an instant at which all jobs have ended, even if one core runs them one after the other.
Time end_of(std::span<const ReplayedJob> jobs) {
  Duration last{}, sum{};
  for (const ReplayedJob& job : jobs) {
    last = std::max(last, job.release);
    sum += job.execution;
  }
  return Time{last + sum};
}

}  // namespace

std::vector<Duration> finish_times(std::span<const ReplayedJob> jobs, ReplayCores cores) {
  if (jobs.empty()) return {};
  const ReplayedTasks tasks(jobs, cores);
  sim::ListedJobs source(tasks.releases());
  Ends ends(tasks, jobs.size());
  sim::MulticoreSimulator simulator(tasks.options(cores), tasks.tasks(), source, &ends);
  simulator.run(end_of(jobs));
  return ends.take();
}

}  // namespace corelane::tool
