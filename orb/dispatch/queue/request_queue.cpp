#include "orb/dispatch/queue/request_queue.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "orb/os/lock.h"

namespace corelane::dispatch {
namespace {

std::size_t level_of(Priority priority) noexcept {
  return static_cast<std::size_t>(std::clamp<std::int32_t>(priority.value, 0, RequestQueue::levels - 1));
}

FairShares::Sharer sharer_of(const Job& job) noexcept { return {.task = job.task, .peer = job.owner}; }

}  // namespace

JobList::JobList(JobList&& other) noexcept
    : head_(std::exchange(other.head_, nullptr)), tail_(std::exchange(other.tail_, nullptr)) {}

JobList& JobList::operator=(JobList&& other) noexcept {
  std::swap(head_, other.head_);
  std::swap(tail_, other.tail_);
  return *this;
}

JobList::~JobList() {
  while (!empty()) pop_front();  // bound: what was pushed
}

void JobList::push_back(JobPtr job) noexcept {
  Job* added = job.release();
  added->next_ = nullptr;
  (tail_ ? tail_->next_ : head_) = added;
  tail_ = added;
}

JobPtr JobList::pop_front() noexcept {
  if (!head_) return nullptr;
  JobPtr job(std::exchange(head_, head_->next_));
  job->next_ = nullptr;
  if (!head_) tail_ = nullptr;
  return job;
}

Pushed RequestQueue::push(JobPtr& job, Priority priority, JobPtr* displaced) noexcept {
  const std::size_t level = level_of(priority);
  const os::LockGuard lock(mutex_);
  if (closed_) return Pushed::closed;
  const bool displaces = shares_.is_full();
  const auto least = static_cast<std::size_t>(std::countr_zero(occupied_));
  if (displaces && (!displaced || least >= level)) return Pushed::full;
  if (!shares_.take(sharer_of(*job), displaces ? 1 : 0)) return Pushed::full;
  if (displaces) *displaced = take_from(least);
  lists_[level].push_back(std::move(job));
  occupied_ |= std::uint64_t{1} << level;
  note_idle();
  return Pushed::done;
}

JobPtr RequestQueue::pop() noexcept {
  const os::LockGuard lock(mutex_);
  if (occupied_ == 0) return nullptr;
  return take_from(static_cast<std::size_t>(std::bit_width(occupied_)) - 1);
}

// Takes the oldest job of a level that is not empty.
JobPtr RequestQueue::take_from(std::size_t level) noexcept {
  JobPtr job = lists_[level].pop_front();
  if (lists_[level].empty()) occupied_ &= ~(std::uint64_t{1} << level);
  shares_.give_back(sharer_of(*job));
  note_idle();
  return job;
}

// relaxed: a thread that looks during another one's push() sees the state before it or after it; no data depends on it
void RequestQueue::note_idle() noexcept { idle_.store(occupied_ == 0 && !closed_, std::memory_order_relaxed); }

void RequestQueue::close() noexcept {
  const os::LockGuard lock(mutex_);
  closed_ = true;
  note_idle();
}

std::size_t RequestQueue::size() const noexcept {
  const os::LockGuard lock(mutex_);
  return shares_.taken();
}

}  // namespace corelane::dispatch
