// RequestQueue holds requests that wait for the manager, or for a thread that dispatches in its place. It is bounded.
// The highest priority comes first; within a priority, the oldest request.
//
// A push to a full queue does not wait. A new request with a higher priority than the lowest in the queue displaces a
// request of that lowest priority. The caller answers the displaced request. Otherwise the new request is refused. For
// a task or a peer that has its share of the places (FairShares), the queue counts as full, whatever the priority. So
// if all places are taken, a task or a peer that has a place displaces no other request.
//
// Threads: any number of producers and consumers. A mutex with priority inheritance guards the queue, rather than a
// lock-free design. It raises a preempted low-priority producer to the manager's priority while that holds the mutex.
// It also keeps the order over priorities exact, which a set of rings does not do without a scan. Under the mutex, a
// push looks at the counts of the sharers once, a pop once, and a push that displaces a job twice. Bound:
// FairShares::most_counted counts. Neither allocates, because jobs are linked through themselves.
//
// The folder orb/dispatch/queue holds what waits between threads: requests, notes to the manager, lists of nodes.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "orb/base/ids.h"
#include "orb/base/thread_safety.h"
#include "orb/dispatch/job.h"
#include "orb/dispatch/queue/fair_shares.h"
#include "orb/os/pi_mutex.h"

namespace corelane::dispatch {

enum class Pushed : std::uint8_t { done, full, closed };

// JobList holds jobs in order of arrival, linked through themselves, and owns them. Owning thread only.
class JobList {
 public:
  JobList() = default;
  JobList(JobList&& other) noexcept;
  JobList& operator=(JobList&& other) noexcept;
  ~JobList();

  bool empty() const noexcept { return head_ == nullptr; }
  void push_back(JobPtr job) noexcept;
  JobPtr pop_front() noexcept;  // null when empty

 private:
  Job* head_ = nullptr;
  Job* tail_ = nullptr;
};

class RequestQueue {
 public:
  static constexpr std::size_t levels = 64;  // higher priorities share the highest level, lower ones the lowest

  explicit RequestQueue(std::size_t capacity) : shares_(capacity) {}

  // Takes the job if the answer is done; otherwise the caller keeps it. If the queue is full and `displaced` is given,
  // the oldest job of the lowest priority makes room, if that priority is below `priority`. It is returned in
  // `displaced`. Of the least important jobs, it has waited longest, and its deadline is nearest. Any thread.
  Pushed push(JobPtr& job, Priority priority, JobPtr* displaced = nullptr) noexcept;
  // Takes the oldest job of the highest priority; null: there is none. Any thread.
  JobPtr pop() noexcept;
  // Makes push() answer closed from now on. Jobs in the queue can still be popped. Any thread.
  void close() noexcept;

  // Returns whether the queue is empty and push() would take a job: a job that comes now is the next. Any thread.
  bool is_idle() const noexcept { return idle_.load(std::memory_order_relaxed); }  // relaxed: see note_idle()

  std::size_t size() const noexcept;
  // No analysis: the capacity is constant.
  std::size_t capacity() const noexcept CORELANE_NO_THREAD_SAFETY_ANALYSIS { return shares_.capacity(); }

 private:
  JobPtr take_from(std::size_t level) noexcept CORELANE_REQUIRES(mutex_);
  void note_idle() noexcept CORELANE_REQUIRES(mutex_);

  mutable os::PiMutex mutex_;
  FairShares shares_ CORELANE_GUARDED_BY(mutex_);
  std::array<JobList, levels> lists_ CORELANE_GUARDED_BY(mutex_);
  std::uint64_t occupied_ CORELANE_GUARDED_BY(mutex_) = 0;  // bit i: lists_[i] is not empty
  bool closed_ CORELANE_GUARDED_BY(mutex_) = false;
  std::atomic<bool> idle_{true};  // changes under the lock
};

}  // namespace corelane::dispatch
