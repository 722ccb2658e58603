// What the Manager tells about its tasks and cores: plain values for reports, logs and the command line.
#pragma once

#include <cstdint>

#include "orb/base/contract.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace corelane::sched {

// Shares of a core in parts per million: integer, so that sums and limits are exact.
using Ppm = std::int64_t;
inline constexpr Ppm whole_core = 1'000'000;
inline constexpr Ppm default_capacity = 950'000;  // the kernel takes 50 ms/s from SCHED_FIFO on a full core

// What runs on a core above and beside the admitted tasks: reader, manager, interrupts, context switches. In the
// analysis it is a task of the highest priority, so that the result stays exact, and a blocking term.
struct PlatformLoad {
  Duration budget{};    // C: at most so much ...
  Duration period{};    // ... in each T; zero: no load
  Duration jitter{};    // J: of its releases
  Duration blocking{};  // B: the longest that it keeps any task from running once per job: wake-up latency, masked code
};

// How a core orders what is ready there.
enum class CoreOrder : std::uint8_t {
  priority,  // preemptive fixed priorities
  deadline,  // earliest deadline first: see EdfLane
  served,    // the same, each task under a constant bandwidth server of the platform's: see task_server.h
};

struct CoreOptions {
  CoreId id{};
  Ppm capacity = default_capacity;  // admitted plus platform load stays at or below this
  PlatformLoad load{};
  CoreOrder order = CoreOrder::priority;
};

enum class TaskState : std::uint8_t {
  pending,  // admitted once others have left its core; no job may run yet
  running,  // jobs may run
  moving,   // runs on `core`, leaves it for `target` at an idle instant
  leaving,  // gone; charged until its core's idle instant
};

struct TaskView {
  TaskId id = no_task;
  PeerId peer{};
  Contract contract{};
  CoreId core = no_core;
  CoreId target = no_core;  // where it goes, while moving
  Priority priority{};
  Duration response{};  // R: the analysed bound, from the release (jitter included); zero when admission is off
  TaskState state = TaskState::running;
};

struct CoreView {
  CoreId id = no_core;
  Ppm capacity = 0;
  Ppm admitted =
      0;  // utilization of all that is charged to it: running, moving in or out, pending, leaving; rounded up
  Ppm platform = 0;  // platform load and other processes
  std::uint32_t tasks = 0;
  bool lost = false;
  CoreOrder order = CoreOrder::priority;
};

}  // namespace corelane::sched
