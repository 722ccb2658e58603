// EarlyStarts says which early jobs of a core may start because the core is idle. Early jobs come on top of what was
// admitted. So they get no more than the core's share that its tasks do not use: a client that never waits would
// otherwise fill the core, and the kernel takes 50 ms of each second from a full core.
//
// Threads: guarded by the pool's lock. No clock. Bound: the core's tasks for each function.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "orb/base/time.h"
#include "orb/dispatch/cores/idle_watch.h"
#include "orb/sched/schedulers/core_scheduler.h"
#include "orb/sched/task.h"

namespace corelane::dispatch {

class EarlyStarts {
 public:
  using Tasks = std::span<const sched::ScheduledTask>;

  // Sets the watch that finds out when the core is idle; null: early jobs may not start any more. `share`: the part of
  // the core that all jobs together may use.
  void use(IdleWatch* watch, sched::Ppm share) noexcept {
    watch_ = watch;
    share_ = share;
  }
  IdleWatch* watch() const noexcept { return watch_; }

  // Returns whether there is an early job that could start.
  bool has_work(Tasks tasks, Time now) const noexcept { return watch_ && early_work(tasks, now) > Duration::zero(); }
  // Pays for the early jobs that can start now: the next ones wait until their budgets are paid for by the unused
  // share. Nothing: they may start. Otherwise they may not, and the result is when to ask again; `never`: the watch
  // will be notified. Call it only if has_work().
  std::optional<Time> pay(Tasks tasks, Time now) noexcept;
  // Returns how many early jobs have started this way.
  std::uint64_t count() const noexcept { return count_; }

 private:
  static Duration early_work(Tasks tasks, Time now) noexcept;
  sched::Ppm unpromised(Tasks tasks) const noexcept;

  IdleWatch* watch_ = nullptr;
  sched::Ppm share_ = 0;
  Time from_{};  // no early job may start before; the budgets of the last ones are paid for then
  std::uint64_t count_ = 0;
};

}  // namespace corelane::dispatch
