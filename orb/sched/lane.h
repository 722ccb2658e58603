// Lane: one core's jobs as a pure state machine: which job of each admitted task may run, released when. Jobs of one
// task run one after another in the order of their arrival; jobs of different tasks are ordered by the platform below,
// which is preemptive fixed priority (the kernel's SCHED_FIFO, or the simulator's virtual core).
//
// Release rule (GCRA): a job that arrives at a is eligible at max(a, TAT - J), then TAT = max(a, TAT) + T. However its
// caller behaves, a task therefore never asks for more of its core than its contract says.
//
// Threads: owned by one thread at a time. No clock, no thread; nothing allocates after the constructor. Every loop is
// bounded by the number of tasks or by the waiting jobs of one task.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/ids.h"
#include "orb/sched/commands.h"
#include "orb/sched/facts.h"

namespace corelane::sched {

// Jobs of one task that may wait beside the one that runs. A contract whose deadline spans more periods is refused.
inline constexpr std::size_t max_waiting = 8;

struct WaitingJob {
  JobId job;
  Time eligible;
};

// What a Lane knows of one task; travels whole when the task moves.
struct LaneTask {
  TaskId id = no_task;
  Contract contract{};
  Priority priority{};
  Time tat{};       // theoretical arrival time of the next job
  JobId running{};  // valid while busy
  bool busy = false;
  bool started = false;   // had a job, so tat counts
  bool held = false;      // starts no job: vacated, waits for its Move
  bool vacating = false;  // vacate() or dismiss() waits for the idle instant
  bool leaving = false;   // dismissed
  std::array<WaitingJob, max_waiting> waiting{};
  std::size_t waiting_count = 0;  // waiting[0] is the oldest
  std::uint64_t jobs = 0;
  std::uint64_t deferred = 0;
  std::uint64_t overruns = 0;
};

class Lane {
 public:
  // timer: the one timer of this Lane, named in its Arm commands.
  Lane(CoreId core, std::size_t max_tasks, TimerId timer);

  // The task joins. False when it is there already or the Lane is full (the caller's mistake).
  bool add(TaskId task, const Contract& contract, Priority priority) noexcept;
  // Counts for jobs that start from now on; the thread's own priority is the runtime's business.
  void reprioritize(TaskId task, Priority priority) noexcept;

  // Arrived (of a task of this Lane; `at` is the arrival), Finished, Overran, Elapsed. Other facts are ignored.
  // The commands are valid until the next call of any member: Run (by descending priority), Defer, Refuse, Demote,
  // Cancel, Arm, ReportVacated.
  std::span<const Command> decide(const Fact& fact) noexcept;

  // Prepares a Move: from the next idle instant on no job of the task starts here; ReportVacated then, maybe at once.
  std::span<const Command> vacate(Time now, TaskId task) noexcept;
  // The task leaves for good: its waiting jobs are cancelled, the running one ends; ReportVacated at the idle instant.
  std::span<const Command> dismiss(Time now, TaskId task) noexcept;
  // Takes a vacated task out (its waiting jobs go with it), and brings it in elsewhere; or in again, called off.
  // take() gives a task with id no_task when it is not here. put() may start a job; set the task's priority before.
  LaneTask take(TaskId task) noexcept;
  std::span<const Command> put(Time now, const LaneTask& task) noexcept;

  CoreId core() const noexcept { return core_; }
  // No admitted job is running or eligible.
  bool idle(Time now) const noexcept;
  std::span<const LaneTask> tasks() const noexcept { return tasks_; }

 private:
  LaneTask* find(TaskId task) noexcept;
  void arrive(const Arrived& fact) noexcept;
  void finish(const Finished& fact) noexcept;
  void overrun(const Overran& fact) noexcept;
  void start_ready(Time now) noexcept;
  void report_vacated() noexcept;
  void arm(Time now) noexcept;
  std::span<const Command> settle(Time now) noexcept;
  void refuse(JobId job, RefusalCode code) noexcept;
  bool insert(const LaneTask& task) noexcept;
  void erase(const LaneTask* task) noexcept;

  const CoreId core_;
  const TimerId timer_;
  std::vector<LaneTask> tasks_;    // by descending priority
  std::vector<Command> commands_;  // answer to the last call
  Time armed_ = never;
};

}  // namespace corelane::sched
