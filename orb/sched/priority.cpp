#include "orb/sched/priority.h"

#include <cstddef>

namespace corelane::sched {
namespace {

// Gives every new task the level in the middle of its gap. The levels of other tasks stay. Returns false if a new task
// has no gap.
bool fit_into_gaps(std::span<int> levels_by_rank, int levels) noexcept {
  int above = levels + 1;  // the level of the next task above
  for (std::size_t i = 0; i < levels_by_rank.size(); ++i) {
    if (levels_by_rank[i] == 0) {
      const int below = i + 1 < levels_by_rank.size() ? levels_by_rank[i + 1] : 0;
      if (above - below < 2) return false;
      levels_by_rank[i] = below + (above - below) / 2;
    }
    if (levels_by_rank[i] >= above) return false;  // two tasks share a level: all must be assigned again
    above = levels_by_rank[i];
  }
  return true;
}

}  // namespace

bool assign_levels(std::span<int> levels_by_rank, int levels) noexcept {
  if (fit_into_gaps(levels_by_rank, levels)) return false;
  const auto count = static_cast<std::int64_t>(levels_by_rank.size());
  bool changed = false;
  for (std::int64_t rank = 0; rank < count; ++rank) {
    int& level = levels_by_rank[static_cast<std::size_t>(rank)];
    const int wanted = level_of_rank(rank, count, levels);
    changed |= level != 0 && level != wanted;
    level = wanted;
  }
  return changed;
}

}  // namespace corelane::sched
