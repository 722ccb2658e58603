// JobAccount gives a simulator the jobs of a run, and finds out what became of each. A job counts if its deadline is
// within the run. It missed its deadline unless it ended in time: if it was late, was refused, was cancelled, or never
// ended.
//
// Threads: one.
//
// The folder orb/eval/experiment runs sets of tasks in virtual time, and sums up what came of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/eval/generate/job_sequence.h"
#include "orb/eval/run.h"
#include "orb/eval/task_set.h"
#include "orb/sched/task.h"
#include "orb/sim/job_source.h"
#include "orb/sim/multicore_simulator.h"

namespace corelane::eval {

class JobAccount final : public sim::JobSource, public sim::JobObserver {
 public:
  // The request and the observer must outlive the account. The simulator's times count from `start`, those of the
  // observer and of the outcome from the start of the run. The observer may be null.
  JobAccount(const RunRequest& request, Duration start, sim::JobObserver* observer);

  // The simulator numbers its cores from 0; reports name those of the request.
  void rename_cores() { renames_cores_ = true; }
  // Each job executes for so much longer, for what the platform costs. Reports have the execution without it.
  void lengthen(Duration overhead) { overhead_ = overhead; }
  // Task number tasks.size() and those behind it are this load. They are in no report.
  void add_load(const sched::PlatformLoad& load) { load_ = load; }

  std::optional<sim::JobRelease> next(std::size_t task) override;
  void finished(const sim::FinishedJob& job) override;
  void executed(const sim::ExecutedSlice& slice) override;

  // Fills in what became of the jobs. Call it once, after the run.
  void close(RunOutcome& outcome);

 private:
  struct OpenJob {
    std::uint64_t number;
    Duration release;
  };
  struct TaskAccount {
    JobSequence sequence;
    std::deque<OpenJob> open{};  // released, or about to be, and not ended
    std::uint64_t given = 0;
    std::uint64_t due = 0;
    std::uint64_t met = 0;
    std::uint64_t finished = 0;
    Duration worst{}, total{};
  };

  bool is_due(std::size_t task, Duration release) const;
  void lose(std::size_t task, const OpenJob& job);
  void note_miss(const JobRecord& record);
  CoreId named(CoreId core) const;
  Time from_start(Time time) const { return time - start_; }

  const RunRequest& request_;
  const Duration start_;
  sim::JobObserver* const observer_;
  bool renames_cores_ = false;
  sched::PlatformLoad load_{};
  Duration overhead_{};                       // of each job
  std::vector<std::uint64_t> loads_given_{};  // by core
  std::vector<TaskAccount> accounts_{};       // by task
  std::vector<JobRecord> misses_{};
};

}  // namespace corelane::eval
