// The priority order of tasks, and the levels that represent it.
//
// Order: (D - J)-monotonic. It is optimal with release jitter and D <= T, where deadline-monotonic is not (Zuhily &
// Burns 2007). Importance and then age break ties.
//
// Levels: the priorities that the platform can distinguish, 1 .. levels; a higher level runs first. Tasks that share a
// level delay each other. Native priorities are those of the kernel: SCHED_FIFO 2 .. 49, with the manager at the top.
//
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <span>

#include "orb/base/ids.h"
#include "orb/sched/ticks.h"

namespace corelane::sched {

struct Rank {
  Ticks urgency = 0;  // D - J; a smaller value runs first
  std::int16_t importance = 0;
  std::uint64_t age = 0;  // increases in the order of admission
};

// Returns whether `a` runs before `b`.
constexpr bool before(const Rank& a, const Rank& b) noexcept {
  if (a.urgency != b.urgency) return a.urgency < b.urgency;
  if (a.importance != b.importance) return a.importance > b.importance;
  return a.age < b.age;
}

// Returns the level of the task with rank `rank` (0 runs first) of `count` tasks. The levels are spread evenly over 1
// .. levels. They are distinct while count <= levels; beyond that, tasks of adjacent ranks share one. 0 <= rank <
// count, levels >= 1.
constexpr int level_of_rank(std::int64_t rank, std::int64_t count, int levels) noexcept {
  return levels - static_cast<int>((2 * rank + 1) * levels / (2 * count));
}

// Assigns levels to new tasks. `levels_by_rank` holds the levels of tasks in descending order of priority, and 0 for
// new tasks. A new task takes the level in the middle of its gap, so no other level changes. If there is no gap, all
// levels are assigned again by level_of_rank(). Returns whether an existing level changed.
bool assign_levels(std::span<int> levels_by_rank, int levels) noexcept;

// The SCHED_FIFO priorities of a process. The manager thread alone has the highest one, so that dispatching an admitted
// job preempts every job.
struct NativeRange {
  int lowest = 2;    // above the kernel's own FIFO 1 threads
  int highest = 49;  // below the interrupt threads' 50

  constexpr bool valid() const noexcept { return lowest >= 1 && highest <= 99 && lowest < highest; }
  // Returns the number of levels for tasks, at least 1.
  constexpr int task_levels() const noexcept { return highest - lowest; }
  constexpr int manager() const noexcept { return highest; }
};

// Converts a task's level to the kernel's priority by adding an offset. Returns 0 (SCHED_OTHER) for best effort. A
// level beyond the range gives the highest priority of a task.
constexpr int native_of(Priority level, NativeRange range = {}) noexcept {
  if (level <= best_effort) return 0;
  return range.lowest + (level.value < range.task_levels() ? level.value : range.task_levels()) - 1;
}

}  // namespace corelane::sched
