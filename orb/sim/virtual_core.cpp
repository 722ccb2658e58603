#include "orb/sim/virtual_core.h"

#include <algorithm>
#include <utility>

namespace corelane::sim {

std::vector<VirtualCore::Entry>::iterator VirtualCore::find(JobId job) {
  return std::find_if(jobs_.begin(), jobs_.end(), [&](const Entry& e) { return e.job.job == job; });
}

void VirtualCore::charge(Time now) {
  if (!running_) return;
  const Duration used = now - since_;
  since_ = now;
  busy_ += used;
  const auto entry = find(current_);
  if (entry == jobs_.end()) return;
  ReadyJob& job = entry->job;
  job.used += used;
  job.remaining -= used;
  if (job.until_sleep != Duration::max()) job.until_sleep -= used;
}

void VirtualCore::sort() {
  std::sort(jobs_.begin(), jobs_.end(), [](const Entry& a, const Entry& b) {
    return a.effective() != b.effective() ? a.effective() > b.effective() : a.order < b.order;
  });
}

void VirtualCore::start(Time now, const ReadyJob& job) {
  charge(now);
  jobs_.push_back({job, ++last_order_});
  sort();
}

void VirtualCore::set_priority(Time now, TaskId task, Priority priority) {
  charge(now);
  for (Entry& entry : jobs_)
    if (entry.job.task == task) entry.job.priority = priority;
  sort();
}

void VirtualCore::raise(Time now, JobId job, Priority ceiling) {
  charge(now);
  if (const auto entry = find(job); entry != jobs_.end()) entry->ceiling = ceiling;
  sort();
}

bool VirtualCore::shorten(Time now, JobId job, Duration most) {
  charge(now);
  const auto entry = find(job);
  if (entry == jobs_.end()) return false;
  entry->job.remaining = std::min(entry->job.remaining, most);
  return true;
}

bool VirtualCore::wake(Time now, JobId job) {
  charge(now);
  const auto entry = find(job);
  if (entry == jobs_.end() || !entry->asleep) return false;
  entry->asleep = false;
  entry->order = ++last_order_;
  sort();
  return true;
}

void VirtualCore::drop_all(Time now) {
  charge(now);
  jobs_.clear();
  running_ = false;
}

void VirtualCore::watch(Time now, JobId job, Duration budget) {
  charge(now);
  watched_ = job;
  budget_ = budget;
}

Duration VirtualCore::until_budget(const ReadyJob& job) const {
  return job.job == watched_ ? budget_ - job.used : Duration::max();
}

Duration VirtualCore::until_lock(const ReadyJob& job) const {
  const Duration next = std::min(job.locks_at, job.unlocks_at);
  return next == Duration::max() ? next : next - job.used;
}

std::optional<VirtualCore::Reached> VirtualCore::reach(Time now) {
  charge(now);
  if (!running_) return std::nullopt;
  const auto entry = find(current_);
  ReadyJob& job = entry->job;
  if (until_lock(job) <= Duration::zero()) {
    const bool locks = job.locks_at != Duration::max();
    (locks ? job.locks_at : job.unlocks_at) = Duration::max();
    return Reached{job, locks ? What::locked : What::unlocked};
  }
  if (job.remaining <= Duration::zero()) {
    const ReadyJob ended = job;
    jobs_.erase(entry);
    running_ = false;
    return Reached{ended, What::ended};
  }
  if (job.until_sleep <= Duration::zero()) {
    job.until_sleep = Duration::max();
    entry->asleep = true;
    running_ = false;
    return Reached{job, What::slept};
  }
  if (until_budget(job) > Duration::zero()) return std::nullopt;
  watched_ = {};  // said once
  return Reached{job, What::overran};
}

Time VirtualCore::dispatch(Time now) {
  charge(now);
  const auto next = std::find_if(jobs_.begin(), jobs_.end(), [](const Entry& entry) { return !entry.asleep; });
  const bool ran = std::exchange(running_, next != jobs_.end());
  if (!running_) return never;
  const ReadyJob& job = next->job;
  if (ran && current_ != job.job) ++preemptions_;
  current_ = job.job;
  since_ = now;
  return now +
         std::max(std::min({job.remaining, job.until_sleep, until_budget(job), until_lock(job)}), Duration::zero());
}

std::optional<JobId> VirtualCore::running() const {
  if (!running_) return std::nullopt;
  return current_;
}

}  // namespace corelane::sim
