// The plain values with which the Manager describes tasks and cores, for reports, logs and the command line.
#pragma once

#include <cstddef>
#include <cstdint>

#include "orb/base/contract.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace corelane::sched {

// A TaskId that a Manager issues has the index of the task's slot in its low bits, and the slot's generation above
// them. The indices are dense: a Manager for n tasks uses those below n. So a table of tasks needs no search.
inline constexpr int slot_bits = 20;
inline constexpr std::size_t most_slots = std::size_t{1} << slot_bits;
constexpr std::size_t slot_index(TaskId task) noexcept {
  return static_cast<std::size_t>(task.value & (most_slots - 1));
}

// Shares of a core in parts per million. They are integers, so that sums and limits are exact.
using Ppm = std::int64_t;
inline constexpr Ppm whole_core = 1'000'000;
inline constexpr Ppm default_capacity = 950'000;  // on a full core the kernel takes 50 ms/s from SCHED_FIFO

// The load of a core besides the admitted tasks: reader, manager, interrupts, context switches. In the analysis it is a
// task of the highest priority, so the result stays exact, plus a blocking term.
struct PlatformLoad {
  Duration budget{};  // C: the execution time ...
  Duration period{};  // ... in each T; zero: no load
  Duration jitter{};  // J: release jitter
  // B: the longest time for which it keeps any task from running, once per job (wake-up latency, code with masked
  // interrupts).
  Duration blocking{};
};

// How a core orders its ready jobs.
enum class CoreOrder : std::uint8_t {
  priority,  // preemptive fixed priorities
  deadline,  // earliest deadline first: see EdfScheduler
  served,    // as `deadline`, with one constant bandwidth server per task: see task_server.h
};

struct CoreOptions {
  CoreId id{};
  Ppm capacity = default_capacity;  // the sum of admitted and platform load stays at or below this
  PlatformLoad load{};
  CoreOrder order = CoreOrder::priority;
  int cache = 0;  // its last-level cache: cores with the same number, which is not negative, share it
};

enum class TaskState : std::uint8_t {
  pending,  // admitted when others have left its core; no job may run yet
  running,  // jobs may run
  moving,   // runs on `core`, will move to `target` at an idle instant
  leaving,  // has left; charged until its core's idle instant
};

struct TaskView {
  TaskId id = no_task;
  PeerId peer{};
  Contract contract{};
  CoreId core = no_core;
  CoreId target = no_core;  // the core to which it moves
  Priority priority{};
  Duration response{};  // R: the analyzed bound, jitter included; zero if admission is off
  TaskState state = TaskState::running;
};

struct CoreView {
  CoreId id = no_core;
  Ppm capacity = 0;
  // The utilization of all tasks charged to the core (running, moving in or out, pending, leaving), rounded up.
  Ppm admitted = 0;
  Ppm platform = 0;  // platform load and other processes
  std::uint32_t tasks = 0;
  bool lost = false;
  CoreOrder order = CoreOrder::priority;
};

}  // namespace corelane::sched
