// Priority order of tasks, and the levels that stand for it.
//
// Order: (D - J)-monotonic, which is optimal with release jitter and D <= T where deadline-monotonic is not (Zuhily &
// Burns 2007); importance, then age break ties. Levels are what the platform can tell apart: 1 .. levels, higher runs
// first; tasks that share one interfere with each other. Native priorities are the kernel's: SCHED_FIFO 2 .. 49 with
// the manager at the top.
//
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <span>

#include "orb/base/ids.h"
#include "orb/sched/ticks.h"

namespace corelane::sched {

struct Rank {
  Ticks urgency = 0;  // D - J: less runs first
  std::int16_t importance = 0;
  std::uint64_t age = 0;  // ascending in the order of admission
};

// Whether `a` runs before `b`.
constexpr bool before(const Rank& a, const Rank& b) noexcept {
  if (a.urgency != b.urgency) return a.urgency < b.urgency;
  if (a.importance != b.importance) return a.importance > b.importance;
  return a.age < b.age;
}

// The level of the task of rank `rank` (0 runs first) among `count`, spread evenly over 1 .. levels; distinct while
// count <= levels, shared by neighbours beyond. 0 <= rank < count, levels >= 1.
constexpr int level_of_rank(std::int64_t rank, std::int64_t count, int levels) noexcept {
  return levels - static_cast<int>((2 * rank + 1) * levels / (2 * count));
}

// The renumbering rule. `levels_by_rank` holds the levels of tasks in descending order of priority, 0 for newcomers. A
// newcomer takes the middle of the gap between its neighbours, so that nobody else changes; where there is no gap, all
// are renumbered by level_of_rank(). Whether any old level changed.
bool assign_levels(std::span<int> levels_by_rank, int levels) noexcept;

// The SCHED_FIFO levels of a process. Its manager thread has the highest for itself: dispatching an admitted job
// pre-empts every job.
struct NativeRange {
  int lowest = 2;    // above the kernel's own FIFO 1 threads
  int highest = 49;  // below the interrupt threads' 50

  constexpr bool valid() const noexcept { return lowest >= 1 && highest <= 99 && lowest < highest; }
  // How many levels tasks have, at least 1.
  constexpr int task_levels() const noexcept { return highest - lowest; }
  constexpr int manager() const noexcept { return highest; }
};

// The kernel's level of a task's: a shift, nothing is decided in it. 0 (SCHED_OTHER) for best effort; past the range
// the nearest level.
constexpr int native_of(Priority level, NativeRange range = {}) noexcept {
  if (level <= best_effort) return 0;
  return range.lowest + (level.value < range.task_levels() ? level.value : range.task_levels()) - 1;
}

}  // namespace corelane::sched
