// TaskLeases: which tasks of other processes are held and not used. What an admitted task holds nobody else gets, so
// one whose client makes no calls ends: its lease is over when none came for so long, and for ten of its periods. Each
// call renews it.
//
// By default a lease is 60 s for peers over the network and other users of this host. Processes of this one's user, and
// of root, hold their tasks as long as they like.
//
// Threads: whoever holds the manager's lock. Nothing allocates after construction.
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
  static constexpr int periods = 10;                            // of the task, at least
  static constexpr Duration between = std::chrono::seconds{1};  // two looks

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
  // When look() has something to do.
  Time look_at() const noexcept { return leases_.empty() ? never : look_at_; }

  // Calls end(task) for each task whose lease is over, which has none from then on. `use_of(task)`: a count that grows
  // with each call, or nothing while a job of it is under way. Whether there was one. Bound: the tasks.
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
  // Zero: as long as it likes.
  Duration length_of(PeerId owner) const noexcept {
    if (owner == PeerId{}) return Duration::zero();
    return length_.value_or(is_of_own_user(owner) ? Duration::zero() : of_strangers);
  }

  const std::optional<Duration> length_;
  std::vector<Lease> leases_;
  Time look_at_{};
};

}  // namespace corelane::dispatch
