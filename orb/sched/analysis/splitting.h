// Semi-partitioned scheduling under earliest deadline first (Burns, Davis, Wang & Zhang 2012, "C=D splitting"). A task
// that fits on no core is cut into parts, which run one after another on several cores. Every part but the last has a
// deadline equal to its budget. So it runs at once and without a pause, and the next part begins a fixed time after the
// release:
//   first part (C_1, T, D = C_1) on one core, the rest (C - C_1, T, D - C_1) on another, released C_1 later.
// A job that needs less than its budget ends in an earlier part, and the later parts have nothing to do.
//
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <span>

#include "orb/sched/analysis/demand.h"

namespace corelane::sched {

struct FirstPart {
  // fails: not even one tick fits. undecided: the iterations were used up.
  DemandVerdict::Kind kind = DemandVerdict::Kind::holds;
  Ticks budget = 0;  // C_1: the largest budget that fits, at most C
};

// Returns the largest first part of `task` that its new core can take beside `tasks`, which meet their deadlines. The
// search starts at the largest budget that the utilization leaves, and goes down. If a window t has too much demand for
// k jobs of the part, no part above (t - the others' demand) / k fits. So that is the next value to try, and the first
// part that fits is the largest.
FirstPart largest_first_part(std::span<const EdfTask> tasks, const EdfTask& task, const Limits& limits = {}) noexcept;

// A part of a split task. Its core runs it as the task `part`, released `offset` after the split task.
struct SplitPart {
  std::size_t core = 0;  // index into the given cores
  Ticks offset = 0;
  EdfTask part{};
};

struct Split {
  DemandVerdict::Kind kind = DemandVerdict::Kind::fails;
  std::size_t count = 0;  // number of parts
};

// Cuts `task` (0 < C <= D, no jitter) into parts for `cores`, in the given order. The tasks on the cores meet their
// deadlines. Each core takes all of the rest if it can, else the largest first part of it. `parts` must have room for
// one part per core. If the result is `holds`, the parts [0, count) are valid; a single part means that the task needs
// no cut.
Split split(std::span<const std::span<const EdfTask>> cores, const EdfTask& task, std::span<SplitPart> parts,
            const Limits& limits = {}) noexcept;

}  // namespace corelane::sched
