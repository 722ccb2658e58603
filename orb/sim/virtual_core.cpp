#include "orb/sim/virtual_core.h"

#include <algorithm>
#include <utility>

#include "orb/sched/ticks.h"

namespace corelane::sim {
namespace {

constexpr sched::ServerVerdict unlimited{.runs = true, .budget = Duration::max()};

}  // namespace

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
  const Duration done = work_in(*entry, used);
  job.remaining -= done;
  if (job.until_sleep != Duration::max()) job.until_sleep -= done;
  step(now, job.server, used);
}

// Updates a server after a change of its work or its budget. On a core that runs by deadlines, its work gets the
// server's deadline.
void VirtualCore::step(Time now, std::optional<std::size_t> server, Duration used) {
  if (!server) return;
  const auto first =
      std::find_if(jobs_.begin(), jobs_.end(), [&](const Entry& e) { return e.job.server == server && !e.asleep; });
  std::optional<sched::IoCaller> work;
  if (first != jobs_.end()) work = {first->job.caller_period, first->job.priority};
  const sched::ServerVerdict verdict = servers_[*server].step(now, used, work);
  if (order_by_ != Order::deadline) return;
  for (Entry& entry : jobs_)
    if (entry.job.server == server) entry.job.deadline = verdict.deadline;
  sort();
}

std::size_t VirtualCore::add_server(const sched::Server& server) {
  servers_.emplace_back(server);
  return servers_.size() - 1;
}

bool VirtualCore::before(const Entry& a, const Entry& b) const {
  if (order_by_ == Order::priority)
    return a.effective() != b.effective() ? a.effective() > b.effective() : a.order < b.order;
  const auto level = [](const ReadyJob& job) {
    return job.priority == platform_priority ? 2 : job.priority == best_effort ? 0 : 1;
  };
  if (level(a.job) != level(b.job)) return level(a.job) > level(b.job);
  if (level(a.job) != 1) return a.order < b.order;
  return a.job.deadline != b.job.deadline ? a.job.deadline < b.job.deadline : a.job.job < b.job.job;
}

void VirtualCore::sort() {
  std::sort(jobs_.begin(), jobs_.end(), [&](const Entry& a, const Entry& b) { return before(a, b); });
}

void VirtualCore::start(Time now, const ReadyJob& job) {
  charge(now);
  jobs_.push_back({job, ++last_order_});
  sort();
  step(now, job.server);
}

void VirtualCore::change(Entry& entry, Priority priority, Priority ceiling) {
  const Priority before = entry.effective();
  entry.job.priority = priority;
  entry.ceiling = ceiling;
  if (entry.effective() != before) entry.order = before < entry.effective() ? ++last_order_ : --first_order_;
}

void VirtualCore::set_priority(Time now, TaskId task, Priority priority) {
  charge(now);
  for (Entry& entry : jobs_)
    if (entry.job.task == task) change(entry, priority, entry.ceiling);
  sort();
  for (std::size_t i = 0; i < servers_.size(); ++i) step(now, i);
}

void VirtualCore::raise(Time now, JobId job, Priority ceiling) {
  charge(now);
  if (const auto entry = find(job); entry != jobs_.end()) change(*entry, entry->job.priority, ceiling);
  sort();
}

bool VirtualCore::set_deadline(Time now, JobId job, Time deadline) {
  charge(now);
  const auto entry = find(job);
  if (entry == jobs_.end()) return false;
  entry->job.deadline = deadline;
  sort();
  return true;
}

void VirtualCore::run_at_best_effort(Time now, TaskId task) {
  charge(now);
  for (Entry& entry : jobs_) {
    if (entry.job.task != task || !entry.job.own_server || !entry.job.server) continue;
    const auto left = std::exchange(entry.job.server, std::nullopt);
    entry.job.priority = best_effort;
    step(now, left);
  }
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
  if (entry->job.own_server) step(now, find(job)->job.server);
  return true;
}

void VirtualCore::drop_all(Time now) {
  charge(now);
  jobs_.clear();
  running_ = false;
  for (std::size_t i = 0; i < servers_.size(); ++i) step(now, i);
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

void VirtualCore::set_slowdown(Time now, std::int64_t slowdown) {
  charge(now);
  // Rounding up keeps the promise of the header: no job loses work that it has done.
  for (Entry& entry : jobs_) {
    const sched::Wide scaled = sched::Wide{entry.carry} * slowdown + slowdown_ - 1;
    entry.carry = static_cast<std::int64_t>(scaled / slowdown_);
  }
  slowdown_ = slowdown;
}

// Returns how much of the job's demand is done in this time. The job keeps what is less than a nanosecond for the next
// call.
Duration VirtualCore::work_in(Entry& entry, Duration time) const {
  if (slowdown_ == no_slowdown && entry.carry == 0) return time;
  const sched::Wide scaled = sched::Wide{time.count()} * no_slowdown + entry.carry;
  entry.carry = static_cast<std::int64_t>(scaled % slowdown_);
  return Duration{static_cast<std::int64_t>(scaled / slowdown_)};
}

// Returns the shortest time after which work_in() would return at least `work`.
Duration VirtualCore::time_for(const Entry& entry, Duration work) const {
  if (work == Duration::max() || (slowdown_ == no_slowdown && entry.carry == 0)) return work;
  const sched::Wide scaled = sched::Wide{work.count()} * slowdown_ - entry.carry;
  return Duration{static_cast<std::int64_t>((scaled + no_slowdown - 1) / no_slowdown)};
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
    step(now, ended.server);
    return Reached{ended, What::ended};
  }
  if (job.until_sleep <= Duration::zero()) {
    job.until_sleep = Duration::max();
    entry->asleep = true;
    running_ = false;
    const ReadyJob slept = job;
    if (slept.own_server) step(now, slept.server);
    return Reached{slept, What::slept};
  }
  if (until_budget(job) > Duration::zero()) return std::nullopt;
  watched_ = {};  // reported once
  return Reached{job, What::overran};
}

VirtualCore::Until VirtualCore::dispatch(Time now) {
  charge(now);
  Until until;
  const Entry* next = nullptr;
  sched::ServerVerdict granted;
  for (const Entry& entry : jobs_) {
    if (entry.asleep) continue;
    const auto& server = entry.job.server;
    const auto verdict = server ? servers_[*server].verdict(now) : unlimited;
    until.replenished = std::min(until.replenished, verdict.again);
    if (!verdict.runs || next != nullptr) continue;
    next = &entry;
    granted = verdict;
  }
  const bool ran = std::exchange(running_, next != nullptr);
  if (!running_) return until;
  const ReadyJob& job = next->job;
  if (ran && current_ != job.job) ++preemptions_;
  current_ = job.job;
  since_ = now;
  const Duration lasts = std::min({time_for(*next, job.remaining), time_for(*next, job.until_sleep), until_budget(job),
                                   until_lock(job), granted.budget});
  until.reach = now + std::max(lasts, Duration::zero());
  return until;
}

std::optional<JobId> VirtualCore::running() const {
  if (!running_) return std::nullopt;
  return current_;
}

}  // namespace corelane::sim
