#include "orb/eval/experiment/job_account.h"

#include <algorithm>
#include <utility>

#include "orb/eval/generate/random_source.h"
#include "orb/sched/ticks.h"

namespace corelane::eval {
namespace {

std::uint64_t seed_of_task(std::uint64_t run_seed, std::size_t task) noexcept {
  std::uint64_t state = run_seed + task;
  return next_small(state);
}

// Returns how late a job comes: a uniform time from 0 to the jitter.
Duration random_delay(Duration jitter, std::uint64_t seed, std::size_t task, std::uint64_t number) {
  if (jitter == Duration::zero()) return {};
  const std::uint64_t drawn = sim::JobRandom(seed, task, number)();
  const auto values = static_cast<sched::Wide>(jitter.count()) + 1;
  return Duration{static_cast<std::int64_t>(static_cast<sched::Wide>(drawn >> 1) * values >> 63)};
}

}  // namespace

JobAccount::JobAccount(const RunRequest& request, Duration start, sim::JobObserver* observer)
    : request_(request), start_(start), observer_(observer), loads_given_(request.cores.size()) {
  for (std::size_t i = 0; i < request.tasks.size(); ++i)
    accounts_.push_back({.sequence = JobSequence(request.tasks[i], seed_of_task(request.seed, i))});
}

std::optional<sim::JobRelease> JobAccount::next(std::size_t task) {
  if (task >= accounts_.size()) {
    const auto number = static_cast<std::int64_t>(loads_given_[task - accounts_.size()]++);
    return sim::JobRelease{.nominal = Time{load_.period * number}, .delay = {}, .demand = load_.budget};
  }
  TaskAccount& account = accounts_[task];
  const TimedJob job = account.sequence.next();
  if (job.release >= request_.length) return std::nullopt;
  const std::uint64_t number = account.given++;
  account.open.push_back({.number = number, .release = job.release});
  if (is_due(task, job.release)) ++account.due;
  const Duration delay = random_delay(request_.tasks[task].contract.jitter, request_.seed, task, number);
  return sim::JobRelease{.nominal = Time{job.release}, .delay = delay, .demand = job.execution + overhead_};
}

void JobAccount::finished(const sim::FinishedJob& job) {
  if (job.task >= accounts_.size()) return;
  TaskAccount& account = accounts_[job.task];
  while (!account.open.empty() && account.open.front().number < job.number) {  // jobs of a task end in their order
    lose(job.task, account.open.front());
    account.open.pop_front();
  }
  const OpenJob open = account.open.front();
  account.open.pop_front();
  ++account.finished;
  account.worst = std::max(account.worst, job.finish - job.release);
  account.total += job.finish - job.release;
  if (observer_ != nullptr) {
    sim::FinishedJob told = job;
    for (Time sim::FinishedJob::*const at :
         {&sim::FinishedJob::release, &sim::FinishedJob::arrival, &sim::FinishedJob::start, &sim::FinishedJob::finish,
          &sim::FinishedJob::deadline})
      told.*at = from_start(job.*at);
    told.core = named(job.core);
    told.demand -= overhead_;
    observer_->finished(told);
  }
  if (!is_due(job.task, open.release)) return;
  if (job.finish <= job.deadline) return void(++account.met);
  note_miss({.task = job.task,
             .number = job.number,
             .release = from_start(job.release).time_since_epoch(),
             .start = from_start(job.start).time_since_epoch(),
             .finish = from_start(job.finish).time_since_epoch(),
             .deadline = from_start(job.deadline).time_since_epoch(),
             .core = named(job.core),
             .cause = job.demand - overhead_ > request_.tasks[job.task].contract.budget ? MissCause::overrun
                                                                                        : MissCause::scheduling});
}

void JobAccount::executed(const sim::ExecutedSlice& slice) {
  if (observer_ == nullptr || slice.task >= accounts_.size()) return;
  sim::ExecutedSlice told = slice;
  told.core = named(slice.core);
  told.begin = from_start(slice.begin);
  told.end = from_start(slice.end);
  observer_->executed(told);
}

void JobAccount::close(RunOutcome& outcome) {
  for (std::size_t i = 0; i < accounts_.size(); ++i) {
    TaskAccount& account = accounts_[i];
    for (const OpenJob& job : account.open) lose(i, job);
    TaskOutcome& task = outcome.tasks[i];
    task.jobs = account.due;
    task.misses = account.due - account.met;
    task.worst = account.worst;
    task.total = account.total;
    task.finished = account.finished;
  }
  std::ranges::stable_sort(misses_, {}, &JobRecord::deadline);
  outcome.misses = std::move(misses_);
}

bool JobAccount::is_due(std::size_t task, Duration release) const {
  return release + request_.tasks[task].contract.deadline <= request_.length;
}

// Notes a job that does not end.
void JobAccount::lose(std::size_t task, const OpenJob& job) {
  if (!is_due(task, job.release)) return;
  note_miss({.task = task,
             .number = job.number,
             .release = job.release,
             .start = Duration::max(),
             .finish = Duration::max(),
             .deadline = job.release + request_.tasks[task].contract.deadline,
             .cause = MissCause::scheduling});
}

void JobAccount::note_miss(const JobRecord& record) {
  if (misses_.size() < request_.most_misses) misses_.push_back(record);
}

CoreId JobAccount::named(CoreId core) const {
  return renames_cores_ ? request_.cores[static_cast<std::size_t>(core.value)] : core;
}

}  // namespace corelane::eval
