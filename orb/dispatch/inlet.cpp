#include "orb/dispatch/inlet.h"

#include <algorithm>
#include <utility>

namespace corelane::dispatch {

bool Inlet::give(const std::shared_ptr<JobSource>& source) noexcept {
  const std::lock_guard lock(mutex_);
  if (std::exchange(closed_, true)) return false;
  arrival_ = source;
  // PAIR inlet.given: release here -> acquire in read(). The mutex publishes the source itself.
  given_.store(true, std::memory_order_release);
  return true;
}

void Inlet::receive() noexcept {
  {
    const std::lock_guard lock(mutex_);
    source_ = std::move(arrival_);
  }
  given_.store(false, std::memory_order_relaxed);  // relaxed: there is one source at most
  if (!source_) return;
  open_.store(true, std::memory_order_relaxed);  // relaxed: a report
  source_->opened();
}

void Inlet::end() noexcept {
  open_.store(false, std::memory_order_relaxed);  // relaxed: a report
  std::exchange(source_, nullptr)->close();
}

JobSource::Found Inlet::read(JobPtr& job, Time now) noexcept {
  // PAIR inlet.given: acquire here <- release in give().
  if (given_.load(std::memory_order_acquire)) receive();
  if (!source_ || now < throttle_.opens_at()) return JobSource::Found::nothing;
  const JobSource::Found found = source_->poll(job, now);
  if (found == JobSource::Found::bytes) throttle_.charge(now);
  if (found == JobSource::Found::end) end();
  return found;
}

int Inlet::descriptor(Time now) const noexcept {
  return source_ && now >= throttle_.opens_at() ? source_->descriptor() : -1;
}

Time Inlet::wake_at(Time now) const noexcept {
  if (!source_) return never;
  return now < throttle_.opens_at() ? throttle_.opens_at() : source_->wake_at();
}

void Inlet::close() noexcept {
  std::shared_ptr<JobSource> waiting;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    waiting = std::move(arrival_);
  }
  if (waiting) waiting->close();
  if (source_) end();
}

}  // namespace corelane::dispatch
