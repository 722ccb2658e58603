#include "services/corelane/real_run/run_records.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "orb/base/text/counted.h"

namespace corelane::tool {
namespace {

using eval::MissCause;
using eval::RunOutcome;
using eval::RunRequest;
using eval::TaskOutcome;

// Returns the server's view of a task; a default one if it does not know the task.
ServedTask served(const RunRecords& records, std::uint64_t task) {
  const auto found = std::ranges::find(records.server.tasks, task, &ServedTask::task);
  return found == records.server.tasks.end() ? ServedTask{} : *found;
}

template <typename Number>
Duration planned_release(const RunRecords& records, std::size_t task, Number number) {
  return records.planned[task][static_cast<std::size_t>(number)].release;
}

// Returns the rows that belong to planned jobs, by task and number.
std::vector<JobRow> planned_rows(const RunRecords& records) {
  std::vector<JobRow> rows;
  std::ranges::copy_if(records.server.jobs, std::back_inserter(rows), [&](const JobRow& row) {
    const auto task = static_cast<std::size_t>(row.task);
    return row.task >= 0 && task < records.planned.size() && row.number >= 0 &&
           static_cast<std::size_t>(row.number) < records.planned[task].size();
  });
  std::ranges::sort(rows, {}, [](const JobRow& row) { return std::tuple(row.task, row.number); });
  return rows;
}

// RunObserver turns rows into jobs. It sees the rows of a task in the order of their numbers.
class RunObserver {
 public:
  RunObserver(const RunRequest& request, const RunRecords& records) : request_(request), records_(records) {
    for (const AdmitAnswer& answer : records.answers)
      priorities_.push_back(Priority{served(records, answer.task).priority});
  }

  // `previous`: the previous job of the task; null if there is none.
  ObservedJob observe(const JobRow& row, const ObservedJob* previous) {
    const auto task = static_cast<std::size_t>(row.task);
    const Contract& contract = request_.tasks[task].contract;
    const Duration planned = planned_release(records_, task, row.number);
    if (previous == nullptr) next_nominal_ = planned;
    const bool is_behind = previous != nullptr && previous->release <= planned && previous->end >= planned;
    Duration release = from_start(row.release);
    if (is_behind) release = std::min(release, std::max(planned, next_nominal_ - contract.jitter));
    next_nominal_ = std::max(release, next_nominal_) + contract.period;
    return {.task = task,
            .number = static_cast<std::uint64_t>(row.number),
            .release = release,
            .begin = from_start(row.begin),
            .end = from_start(row.end),
            .deadline = release + contract.deadline,
            .execution = Duration{row.execution},
            .budget = contract.budget,
            .longest_gap = Duration{row.longest_gap},
            .priority = priorities_[task],
            .core = CoreId{static_cast<std::int16_t>(row.core)}};
  }

 private:
  Duration from_start(std::int64_t at) const { return Duration{at} - records_.start.time_since_epoch(); }

  const RunRequest& request_;
  const RunRecords& records_;
  std::vector<Priority> priorities_;  // by task
  Duration next_nominal_{};           // of the task's next job, by the server's release rule
};

// RunSummary sums up jobs, task by task.
class RunSummary {
 public:
  RunSummary(const RunRequest& request, const RunRecords& records) : request_(request), records_(records) {
    for (std::size_t i = 0; i < request.tasks.size(); ++i) {
      outcome_.tasks.push_back(task_outcome(i));
      ended_.emplace_back(records.planned[i].size());
    }
  }

  void add(const ObservedJob& job, MissCause cause) {
    TaskOutcome& task = outcome_.tasks[job.task];
    const Duration response = job.end - job.release;
    ++task.finished;
    task.total += response;
    task.worst = std::max(task.worst, response);
    task.overruns += job.execution > job.budget;
    ended_[job.task][static_cast<std::size_t>(job.number)] = true;
    if (!is_due(job.task, job.number) || !job.is_late()) return;
    note_miss({.task = job.task,
               .number = job.number,
               .release = job.release,
               .start = job.begin,
               .finish = job.end,
               .deadline = job.deadline,
               .core = job.core,
               .cause = cause});
  }

  RunOutcome finish() {
    for (std::size_t task = 0; task < outcome_.tasks.size(); ++task) add_unended(task);
    std::ranges::stable_sort(outcome_.misses, {}, &eval::JobRecord::deadline);
    if (outcome_.misses.size() > request_.most_misses) outcome_.misses.resize(request_.most_misses);
    return std::move(outcome_);
  }

 private:
  TaskOutcome task_outcome(std::size_t index) const {
    const AdmitAnswer& answer = records_.answers[index];
    TaskOutcome task{.label = request_.tasks[index].label, .admitted = answer.admitted, .refusal = answer.refusal};
    if (!answer.admitted) return task;
    const ServedTask known = served(records_, answer.task);
    task.core = CoreId{static_cast<std::int16_t>(known.core)};
    task.bound = Duration{known.bound};
    for (std::size_t number = 0; number < records_.planned[index].size(); ++number) task.jobs += is_due(index, number);
    return task;
  }

  bool is_due(std::size_t task, std::uint64_t number) const {
    return planned_release(records_, task, number) + request_.tasks[task].contract.deadline <= request_.length;
  }

  void note_miss(const eval::JobRecord& record) {
    ++outcome_.tasks[record.task].misses;
    outcome_.misses.push_back(record);
  }

  void add_unended(std::size_t task) {
    for (std::size_t number = 0; number < ended_[task].size(); ++number) {
      if (ended_[task][number] || !is_due(task, number)) continue;
      const Duration release = planned_release(records_, task, number);
      note_miss({.task = task,
                 .number = number,
                 .release = release,
                 .start = Duration::max(),
                 .finish = Duration::max(),
                 .deadline = release + request_.tasks[task].contract.deadline});
    }
  }

  const RunRequest& request_;
  const RunRecords& records_;
  RunOutcome outcome_{};
  std::vector<std::vector<bool>> ended_;  // by task and number
};

// Returns how many jobs were released later than planned, by more than their contracts allow.
std::uint64_t late_releases(const RunRequest& request, const RunRecords& records, std::span<const ObservedJob> jobs) {
  const auto is_late = [&](const ObservedJob& job) {
    return job.release - planned_release(records, job.task, job.number) > request.tasks[job.task].contract.jitter;
  };
  return static_cast<std::uint64_t>(std::ranges::count_if(jobs, is_late));
}

void add_notes(const RunRecords& records, std::uint64_t late, RunOutcome& outcome) {
  for (const std::string& line : records.ready.missing) outcome.notes.push_back(line);
  if (late > 0)
    outcome.notes.push_back(counted(late, "job was", "jobs were") +
                            " released at the server later than planned, by more than the jitter of the contract");
  for (const ClientReport& client : records.clients)
    if (client.failed > 0)
      outcome.notes.push_back(counted(client.failed, "call") + " failed; the last one: " + client.trouble);
  if (records.server.dropped > 0)
    outcome.notes.push_back(counted(records.server.dropped, "job") + " left no record, since there was no room");
}

bool has_real_time(const RunRecords& records) {
  return records.ready.real_time && std::ranges::all_of(records.clients, &ClientReport::real_time);
}

}  // namespace

std::vector<ObservedJob> observed_jobs(const RunRequest& request, const RunRecords& records) {
  RunObserver observer(request, records);
  std::vector<ObservedJob> jobs;
  for (const JobRow& row : planned_rows(records)) {
    const bool follows = !jobs.empty() && jobs.back().task == static_cast<std::size_t>(row.task);
    jobs.push_back(observer.observe(row, follows ? &jobs.back() : nullptr));
  }
  std::ranges::stable_sort(jobs, {}, &ObservedJob::release);
  return jobs;
}

RunOutcome outcome_of(const RunRequest& request, const RunRecords& records) {
  const std::vector<ObservedJob> jobs = observed_jobs(request, records);
  const bool is_global = request.dispatcher->placement == eval::TaskPlacement::any_core;
  const auto causes = causes_of(jobs, is_global ? ReplayCores::any : ReplayCores::own);
  RunSummary summary(request, records);
  for (std::size_t i = 0; i < jobs.size(); ++i) summary.add(jobs[i], causes[i]);
  RunOutcome outcome = summary.finish();
  outcome.real_time = has_real_time(records);
  add_notes(records, late_releases(request, records, jobs), outcome);
  return outcome;
}

GapCount gaps_of(const RunRecords& records) {
  GapCount count;
  for (const JobRow& row : records.server.jobs) {
    count.gaps += static_cast<std::uint64_t>(row.gaps);
    count.watched += Duration{row.end - row.begin};
  }
  return count;
}

}  // namespace corelane::tool
