// BudgetWatch says when the running job of a core has to be checked for its budget, and what a check means. It sets the
// alarm for the next check, and for the time when a demoted job gets its level back. It makes no decision about jobs.
//
// Threads: guarded by the pool's lock. No clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/dispatch/budgets/budget_alarm.h"
#include "orb/sched/commands.h"
#include "orb/sched/schedulers/core_scheduler.h"

namespace corelane::dispatch {

class BudgetWatch {
 public:
  static constexpr Duration shortest_look = std::chrono::microseconds{20};  // least time between two checks of a job

  // What a check found.
  struct Found {
    JobId job{};
    Duration left{};      // of its budget
    bool asleep = false;  // undeclared
  };
  // A job that has hardly any budget left.
  struct Unused {
    JobId job{};
    Duration left{};  // of its budget
    Time since{};     // the first check that found this amount
  };

  // Sets the alarm; null: budgets are not watched.
  void use(BudgetAlarm* alarm) noexcept { alarm_ = alarm; }
  bool is_on() const noexcept { return alarm_ != nullptr; }
  const sched::Watch& watched() const noexcept { return watched_; }

  // Watches this job from now on; without a job, none. It is not checked before look_at().
  void begin(const sched::Watch& watched) noexcept {
    watched_ = watched;
    look_at_ = never;
  }
  // Sets the time of the next check: when the job may have used `left`.
  void look_after(Duration left, Time now) noexcept { look_at_ = now + std::max(left, shortest_look); }
  // Sets the alarm for whatever comes first.
  void set_alarm() noexcept {
    if (alarm_) alarm_->set(std::min(look_at_, return_at_));
  }
  bool is_due(Time now) const noexcept { return look_at_ <= now; }

  // Returns whether a job has slept for long enough to count as waiting. If much budget is left, the alarm fired after
  // a time in which the job should have used it, so one check is enough. With less budget left, the job is checked
  // until it has used nothing for BlockingDetector::shortest.
  bool has_waited(const Found& found, Time now) noexcept;
  // Returns the last check that found hardly any budget left.
  const Unused& unused() const noexcept { return unused_; }
  // Returns whether a job may be waiting: much of its budget is left, or as much as at the check before.
  static bool may_wait(const Found& found, const Unused& before) noexcept;
  // Begins anew: a wait is reported once.
  void forget_wait() noexcept { unused_ = {}; }

  // Notes that there may be a demoted job that gets its level back later.
  void note_demoted() noexcept { may_return_ = true; }
  // Finds when the next demoted job gets its level back, and sets the alarm if that has changed. Bound: the core's
  // tasks; returns at once if no job waits for that.
  void note_returns(std::span<const sched::ScheduledTask> tasks) noexcept {
    if (may_return_) find_returns(tasks);
  }
  bool has_return(Time now) const noexcept { return return_at_ <= now; }

 private:
  void find_returns(std::span<const sched::ScheduledTask> tasks) noexcept;

  BudgetAlarm* alarm_ = nullptr;
  sched::Watch watched_;
  Time look_at_ = never;    // when to check what the watched job has used
  Time return_at_ = never;  // when a demoted job gets its level back; the alarm is set for the earlier time
  bool may_return_ = false;
  Unused unused_;
};

}  // namespace corelane::dispatch
