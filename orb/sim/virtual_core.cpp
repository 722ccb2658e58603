#include "orb/sim/virtual_core.h"

#include <algorithm>

namespace corelane::sim {
namespace {

constexpr Duration no_overrun = Duration::max();

}  // namespace

void VirtualCore::charge(Time now) {
  if (!running_) return;
  const auto job = std::find_if(ready_.begin(), ready_.end(), [&](const ReadyJob& r) { return r.job == current_; });
  const Duration used = now - since_;
  since_ = now;
  busy_ += used;
  if (job == ready_.end()) return;
  job->remaining -= used;
  if (job->until_budget != no_overrun) job->until_budget -= used;
}

void VirtualCore::start(Time now, const ReadyJob& job) {
  charge(now);
  const auto place =
      std::find_if(ready_.begin(), ready_.end(), [&](const ReadyJob& r) { return r.priority < job.priority; });
  ready_.insert(place, job);
}

void VirtualCore::set_priority(Time now, TaskId task, Priority priority) {
  charge(now);
  for (ReadyJob& job : ready_)
    if (job.task == task) job.priority = priority;
  std::stable_sort(ready_.begin(), ready_.end(),
                   [](const ReadyJob& a, const ReadyJob& b) { return a.priority > b.priority; });
}

void VirtualCore::drop(Time now, JobId job) {
  charge(now);
  std::erase_if(ready_, [&](const ReadyJob& r) { return r.job == job; });
  if (current_ == job) running_ = false;
}

void VirtualCore::drop_all(Time now) {
  charge(now);
  ready_.clear();
  running_ = false;
}

std::optional<VirtualCore::Reached> VirtualCore::reach(Time now) {
  charge(now);
  if (!running_) return std::nullopt;
  const auto job = std::find_if(ready_.begin(), ready_.end(), [&](const ReadyJob& r) { return r.job == current_; });
  if (job->remaining <= Duration::zero()) {
    const ReadyJob ended = *job;
    ready_.erase(job);
    running_ = false;
    return Reached{ended, true};
  }
  if (job->until_budget > Duration::zero()) return std::nullopt;
  job->until_budget = no_overrun;  // said once
  return Reached{*job, false};
}

Time VirtualCore::dispatch(Time now) {
  charge(now);
  if (ready_.empty()) {
    running_ = false;
    return never;
  }
  const ReadyJob& next = ready_.front();
  if (running_ && current_ != next.job) ++preemptions_;
  running_ = true;
  current_ = next.job;
  since_ = now;
  return now + std::min(next.remaining, next.until_budget);
}

std::optional<JobId> VirtualCore::running() const {
  if (!running_) return std::nullopt;
  return current_;
}

}  // namespace corelane::sim
