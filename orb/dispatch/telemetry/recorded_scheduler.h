// RecordedScheduler is a sched::AnyScheduler that records what it is told and what it answers, so that the run can be
// replayed. RecordedManager does the same for sched::Manager. Without a ring they only pass calls on.
//
// Threads: as CoreScheduler and Manager: a thread that may call one may call the other. Nothing here allocates, except
// as the state machines themselves do.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "orb/dispatch/telemetry/recorder_ring.h"
#include "orb/sched/manager.h"
#include "orb/sched/schedulers/any_scheduler.h"

namespace corelane::dispatch {

class RecordedScheduler {
 public:
  // `ring` must outlive this object; null: nothing is recorded.
  RecordedScheduler(CoreId core, std::size_t max_tasks, TimerId timer, RecorderRing* ring)
      : scheduler_(core, max_tasks, timer), ring_(ring) {}

  // Makes the core run by deadlines. Call it before the first task. The trace's options say so, too.
  void use_deadlines() { scheduler_.use_deadlines(); }
  bool uses_deadlines() const noexcept { return scheduler_.uses_deadlines(); }
  // Charges overruns under `report`. Call it before the first task. The trace's options say so, too.
  void charge_overruns() { scheduler_.charge_overruns(); }

  // As in AnyScheduler.
  bool has_overrun(TaskId task, JobId job, Duration used) const noexcept {
    return scheduler_.has_overrun(task, job, used);
  }
  void allow_early(bool allowed) noexcept;
  bool add(TaskId task, const Contract& contract, Priority priority) noexcept;
  std::span<const sched::Command> join(Time now, TaskId task, const Contract& contract, Priority priority) noexcept;
  bool reprioritize(TaskId task, Priority priority) noexcept;
  std::span<const sched::Command> decide(const sched::Fact& fact) noexcept;
  std::span<const sched::Command> vacate(Time now, TaskId task) noexcept;
  std::span<const sched::Command> dismiss(Time now, TaskId task) noexcept;
  sched::ScheduledTask take(TaskId task) noexcept;
  std::span<const sched::Command> put(Time now, const sched::ScheduledTask& task) noexcept;
  CoreId core() const noexcept { return scheduler_.core(); }
  bool idle(Time now) const noexcept { return scheduler_.idle(now); }
  std::span<const sched::ScheduledTask> tasks() const noexcept { return scheduler_.tasks(); }

  // Record what the runtime observed, for the trace only.
  void started(Time at, JobId job, TaskId task) noexcept;
  void ended(const sched::trace::Missed& job) noexcept;  // records it when job.at is after its deadline
  void blocked(Time at, JobId job, TaskId task, Duration waited) noexcept;
  void overslept(Time at, JobId job, TaskId task, Duration slept) noexcept;
  void turned_away(Time at, JobId job, TaskId task, sched::RefusalCode reason) noexcept;

 private:
  sched::AnyScheduler scheduler_;
  RecorderRing* const ring_;
};

class RecordedManager {
 public:
  RecordedManager(const sched::ManagerOptions& options, RecorderRing* ring) : manager_(options), ring_(ring) {}

  // As in Manager.
  std::span<const sched::Command> decide(const sched::Fact& fact) noexcept;
  void set_capacity(CoreId core, sched::Ppm capacity) noexcept;
  void set_interference(CoreId core, std::span<const sched::PlatformLoad> loads) noexcept;
  void set_closed(CoreId core, bool closed) noexcept;
  void set_repack(bool allowed) noexcept;
  // Not recorded, because they change no decision.
  void prepare(PeerId peer, const Contract& contract) noexcept { manager_.prepare(peer, contract); }
  bool continue_preparing(int evaluations) noexcept { return manager_.continue_preparing(evaluations); }
  bool would_move() const noexcept { return manager_.would_move(); }
  bool refresh_bounds(int evaluations) noexcept { return manager_.refresh_bounds(evaluations); }
  bool has_stale_bounds() const noexcept { return manager_.has_stale_bounds(); }
  void begin_nearest(const Contract& contract) noexcept { manager_.begin_nearest(contract); }
  std::optional<sched::Nearest> continue_nearest(int evaluations) noexcept {
    return manager_.continue_nearest(evaluations);
  }
  std::vector<sched::TaskView> tasks() const { return manager_.tasks(); }
  std::vector<sched::CoreView> cores() const { return manager_.cores(); }
  std::optional<sched::TaskView> find(TaskId task) const noexcept { return manager_.find(task); }
  std::optional<sched::CoreView> find(CoreId core) const noexcept { return manager_.find(core); }

  // Records the task's label, for the trace only.
  void name(TaskId task, std::string_view text) noexcept;

 private:
  sched::Manager manager_;
  RecorderRing* const ring_;
};

}  // namespace corelane::dispatch
