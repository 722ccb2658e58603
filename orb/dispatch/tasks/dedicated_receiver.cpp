#include "orb/dispatch/tasks/dedicated_receiver.h"

#include <algorithm>
#include <utility>

#include "orb/os/lock.h"

namespace corelane::dispatch {

bool DedicatedReceiver::give(const std::shared_ptr<JobSource>& source) noexcept {
  std::shared_ptr<JobSource> overtaken;
  {
    const os::LockGuard lock(mutex_);
    if (closed_) return false;
    if (source->comes_back() && (arrival_ || source->connection() != lent_)) return false;
    overtaken = std::exchange(arrival_, source);
    // PAIR receiver.given: release here -> acquire in receive(). The mutex publishes the source itself.
    given_.store(true, std::memory_order_release);
  }
  if (overtaken) overtaken->close();
  return true;
}

// Takes a source that was given. The previous source is closed, because the client has opened another connection,
// unless the new source is the lent one that comes back.
void DedicatedReceiver::receive() noexcept {
  // PAIR receiver.given: acquire here <- release in give().
  if (!given_.load(std::memory_order_acquire)) return;
  std::shared_ptr<JobSource> arrival;
  {
    const os::LockGuard lock(mutex_);
    arrival = std::move(arrival_);
    if (arrival) lent_ = {};
    given_.store(false, std::memory_order_relaxed);  // relaxed: under the mutex
  }
  if (!arrival) return;
  const std::shared_ptr<JobSource> before = std::exchange(source_, std::move(arrival));
  if (before && !source_->comes_back()) before->close();
  enter(Stage::here);  // before the client is told, because it may read the report
  source_->opened();
}

void DedicatedReceiver::enter(Stage stage) noexcept {
  stage_ = stage;
  open_.store(stage == Stage::here, std::memory_order_relaxed);  // relaxed: a report
}

void DedicatedReceiver::lend() noexcept {
  receive();
  if (stage_ == Stage::none || stage_ == Stage::lent) return;
  {
    const os::LockGuard lock(mutex_);
    lent_ = source_->connection();
  }
  enter(Stage::lent);
  source_->lend();
}

void DedicatedReceiver::take_back() noexcept {
  if (stage_ != Stage::lent) return;
  enter(Stage::returning);
  source_->take_back();
}

void DedicatedReceiver::drop() noexcept {
  if (reads()) end();
}

void DedicatedReceiver::end() noexcept {
  enter(Stage::none);
  std::exchange(source_, nullptr)->close();
}

// Returns the arrival time to use: not before reading was allowed again. With their own arrival times, requests that
// came while nothing was read would all be eligible by now, one for each period. Then this backlog of jobs would run at
// once, before jobs of other tasks.
Time DedicatedReceiver::since_opening(Time arrived) const noexcept {
  return arrived == Time{} ? arrived : std::max(arrived, throttle_.opens_at());
}

JobSource::Found DedicatedReceiver::read(JobPtr& job, Time now) noexcept {
  receive();
  if (!reads() || now < throttle_.opens_at()) return JobSource::Found::nothing;
  const JobSource::Found found = source_->poll(job, now);
  if (job) job->arrived = since_opening(job->arrived);
  if (found == JobSource::Found::end) end();
  return found;
}

int DedicatedReceiver::descriptor(Time now) const noexcept {
  return reads() && now >= throttle_.opens_at() ? source_->descriptor() : -1;
}

Time DedicatedReceiver::wake_at(Time now) const noexcept {
  if (!reads()) return never;
  return now < throttle_.opens_at() ? throttle_.opens_at() : source_->wake_at();
}

void DedicatedReceiver::close() noexcept {
  std::shared_ptr<JobSource> waiting;
  {
    const os::LockGuard lock(mutex_);
    closed_ = true;
    waiting = std::move(arrival_);
  }
  if (waiting) waiting->close();
  if (source_) end();
}

}  // namespace corelane::dispatch
