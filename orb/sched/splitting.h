// Semi-partitioned scheduling under earliest deadline first (Burns, Davis, Wang & Zhang 2012, "C=D splitting"): a task
// that fits on no core is cut in parts that run one after another on several. Every part but the last has a deadline
// equal to its budget, so it runs at once and to its end, and the next part begins a fixed time after the release:
//   first part (C_1, T, D = C_1) on one core, the rest (C - C_1, T, D - C_1) on another, released C_1 later.
// A job that does less than its budget ends in an earlier part; the others then have nothing to do.
//
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <span>

#include "orb/sched/demand.h"

namespace corelane::sched {

struct FirstPart {
  DemandVerdict::Kind kind =
      DemandVerdict::Kind::holds;  // fails: not even one tick fits; undecided: iterations ran out
  Ticks budget = 0;                // C_1: the largest that fits, at most C
};

// The largest first part of `task` that its new core can take beside `tasks`, which hold their deadlines: from the most
// that utilization leaves downwards. Where a window t has too much demand for k jobs of the part, no part above
// (t - the others' demand) / k fits, so that is the next try; the first that fits is the largest.
FirstPart largest_first_part(std::span<const EdfTask> tasks, const EdfTask& task, const Limits& limits = {}) noexcept;

// A part of a split task. Its core runs it as the task `part`, released `offset` after the task.
struct SplitPart {
  std::size_t core = 0;  // index into the cores given
  Ticks offset = 0;
  EdfTask part{};
};

struct Split {
  DemandVerdict::Kind kind = DemandVerdict::Kind::fails;
  std::size_t count = 0;  // of parts
};

// Cuts `task` (0 < C <= D, no jitter) over `cores`, which hold their deadlines, in the order given: each takes the
// whole of what is left if it can, else its largest first part. `parts` has room for as many as there are cores; [0,
// count) are valid when done, and a single one means that the task needs no cut.
Split split(std::span<const std::span<const EdfTask>> cores, const EdfTask& task, std::span<SplitPart> parts,
            const Limits& limits = {}) noexcept;

}  // namespace corelane::sched
