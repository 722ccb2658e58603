// RequestQueue: where requests wait for the manager, or for the thread that takes its turn. Bounded; higher priority
// first, first come first served within a priority. Full is an answer, not a wait: a request of a higher priority than
// the least in the queue takes the place of one of those, and that one is answered; else the one that comes is. The
// queue is also full for a task or a peer that has its share of it (FairShares), whatever the priority: a place that
// would be taken from another job counts as free, so a task or a peer that has a place already takes none from others.
//
// Threads: any number of producers and consumers. Guarded by a priority-inheriting mutex, not lock-free: a pre-empted
// low-priority producer is lifted to the manager's priority while it holds it, and the order over priorities stays
// exact, which a set of rings does not give without a scan. Under the lock a push looks at the counts of the sharers
// once, a pop once, and a push that displaces a job twice; there are FairShares::most_counted at most. Neither
// allocates: jobs are linked through themselves.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "orb/base/ids.h"
#include "orb/dispatch/fair_shares.h"
#include "orb/dispatch/job.h"
#include "orb/os/pi_mutex.h"

namespace corelane::dispatch {

enum class Pushed : std::uint8_t { done, full, closed };

// Jobs in order of arrival, linked through themselves. Owns them. Owning thread only.
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
  static constexpr std::size_t levels = 64;  // priorities above share the highest, those below the lowest

  explicit RequestQueue(std::size_t capacity) : shares_(capacity) {}

  // Takes the job when done; otherwise it stays with the caller. Where the queue is full and `displaced` is there, the
  // oldest job of the lowest priority, if that is below `priority`, makes room and comes back in `displaced`: of those
  // that matter least the one that has waited longest, whose deadline is nearest. Any thread.
  Pushed push(JobPtr& job, Priority priority, JobPtr* displaced = nullptr) noexcept;
  // The oldest job of the highest priority; null: there is none. Any thread.
  JobPtr pop() noexcept;
  // From now on push() answers closed; what is in can still be popped. Any thread.
  void close() noexcept;

  // Whether nothing is in, and push() would take a job: who comes now is the next. Any thread.
  bool is_clear() const noexcept { return clear_.load(std::memory_order_relaxed); }  // relaxed: see note_clear()

  std::size_t size() const noexcept;
  std::size_t capacity() const noexcept { return shares_.capacity(); }

 private:
  JobPtr take_from(std::size_t level) noexcept;
  void note_clear() noexcept;

  mutable os::PiMutex mutex_;
  // Guarded by mutex_.
  FairShares shares_;
  std::array<JobList, levels> lists_;
  std::uint64_t occupied_ = 0;  // bit i: lists_[i] is not empty
  bool closed_ = false;
  std::atomic<bool> clear_{true};  // changes under the lock
};

}  // namespace corelane::dispatch
