// TaskLeases finds tasks of other processes that make no calls. Such a task uses capacity that no other task can get,
// so it ends when its lease is over. Each call renews the lease. A lease lasts for at least ten of the task's periods.
//
// By default a lease is 60 s for peers over the network and for other users of this host. Processes of this process's
// user, and of root, hold their tasks without limit.
//
// Threads: the holder of the manager's lock. Nothing allocates after construction.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/peer.h"
#include "orb/base/time.h"

namespace corelane::dispatch {

class TaskLeases {
 public:
  static constexpr Duration of_strangers = std::chrono::seconds{60};
  static constexpr int periods = 10;                            // a lease is at least so many periods of its task
  static constexpr Duration between = std::chrono::seconds{1};  // time between two looks

  // `length`: ExecutiveOptions::task_lease.
  TaskLeases(std::optional<Duration> length, std::size_t max_tasks) : length_(length) { leases_.reserve(max_tasks); }

  void add(TaskId task, PeerId owner, Duration period, Time now) noexcept {
    const Duration length = length_of(owner);
    if (length == Duration::zero() || leases_.size() == leases_.capacity()) return;
    if (leases_.empty()) look_at_ = now + between;
    leases_.push_back({.task = task, .length = std::max(length, periods * period), .used = 0, .since = now});
  }
  void remove(TaskId task) noexcept {
    std::erase_if(leases_, [&](const Lease& lease) { return lease.task == task; });
  }
  // Returns when look() has something to do.
  Time look_at() const noexcept { return leases_.empty() ? never : look_at_; }

  // Calls end(task) for each task whose lease is over, and removes that lease. `use_of(task)` returns a count that
  // grows with each call, or nothing while a job of the task is under way. Returns whether a lease was over. Bound: the
  // tasks.
  template <typename UseOf, typename End>
  bool look(Time now, UseOf use_of, End end) noexcept {
    if (now < look_at()) return false;
    look_at_ = now + between;
    bool any = false;
    for (std::size_t i = 0; i < leases_.size();) {
      Lease& lease = leases_[i];
      const std::optional<std::uint64_t> used = use_of(lease.task);
      if (!used || *used != lease.used) lease.used = used.value_or(lease.used), lease.since = now;
      if (now - lease.since < lease.length) {
        ++i;
        continue;
      }
      const TaskId task = lease.task;
      leases_.erase(leases_.begin() + static_cast<std::ptrdiff_t>(i));
      end(task);
      any = true;
    }
    return any;
  }

 private:
  struct Lease {
    TaskId task;
    Duration length{};
    std::uint64_t used = 0;
    Time since{};  // the last look that found it used
  };
  // Returns the length of a lease; zero: it does not end.
  Duration length_of(PeerId owner) const noexcept {
    if (owner == PeerId{}) return Duration::zero();
    return length_.value_or(is_of_own_user(owner) ? Duration::zero() : of_strangers);
  }

  const std::optional<Duration> length_;
  std::vector<Lease> leases_;
  Time look_at_{};
};

}  // namespace corelane::dispatch
