// JobAdmissionSimulator runs tasks under the admission control of Zhang, Gill & Lu ("Reconfigurable Real-Time
// Middleware for Distributed Cyber-Physical Systems with Aperiodic Events", 2008) in virtual time. When a job arrives,
// sched::SyntheticUtilization decides whether it is admitted, by one of fifteen policies. Admitted jobs pass their
// stages under preemptive deadline-monotonic priorities: the shorter deadline, and of equal ones the earlier job. Each
// stage executes for its budget.
//
// At one instant, completions come before arrivals. In between, a processor without ready jobs is idle, which may reset
// synthetic utilization. Equal inputs give equal results.
//
// Threads: one. Allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/sched/analysis/synthetic_utilization.h"

namespace corelane::sim {

// A stage of each job of a task. Without load balancing it runs on the first of its processors.
struct TaskStage {
  Duration budget{};                      // > 0
  std::vector<std::size_t> processors{};  // at least one
};

// A task whose jobs arrive at offset, offset + T, offset + 2 T, ...
struct StagedTask {
  Duration period{};    // T > 0
  Duration deadline{};  // 0 < D <= T, from the arrival
  Duration offset{};
  std::vector<TaskStage> stages{};  // 1 to sched::most_stages
};

struct JobAdmissionReport {
  std::uint64_t arrived = 0;
  std::uint64_t admitted = 0;
  std::uint64_t misses = 0;  // admitted jobs that ended after their deadlines: none, if the bound is right
  Duration worst{};          // the longest response of a job that ended
};

class JobAdmissionSimulator {
 public:
  // The policy admits a task with its first job, or decides about each job.
  JobAdmissionSimulator(std::size_t processors, sched::SoundAperiodicPolicy policy, std::vector<StagedTask> tasks);

  // Processes all events up to and including `until`. May be called again with a later time.
  void run(Time until);
  const JobAdmissionReport& report(std::size_t task) const { return reports_[task]; }

 private:
  struct Job {
    std::size_t task = 0;
    Time arrival{};
    std::size_t stage = 0;
    Duration left{};                        // of the stage in progress
    std::vector<std::size_t> processors{};  // by stage
  };
  // The urgency on a processor: D, then the number of the job.
  using Rank = std::pair<Duration, std::uint64_t>;

  Time next_event() const;
  void advance(Time to);
  void complete_stages();
  void end(const Job& job);
  void note_idle();
  void arrive(std::size_t task);
  void enter(std::uint64_t number, Job job);

  const bool per_task_;
  std::vector<StagedTask> tasks_;
  sched::SyntheticUtilization utilization_;
  std::vector<std::map<Rank, Job>> ready_;  // by processor; the first one runs
  std::vector<Time> next_arrival_;          // by task
  std::vector<bool> refused_;               // by task: its first job was refused, and the policy admits tasks
  std::vector<JobAdmissionReport> reports_;
  Time now_{};
  std::uint64_t jobs_ = 0;
};

}  // namespace corelane::sim
