#include "orb/sched/analysis/global.h"

#include <algorithm>
#include <cstddef>

namespace corelane::sched {
namespace {

// A sum that grows by `slope` with each tick of the window, for the next `distance` ticks.
struct Piece {
  Ticks sum = 0;
  Ticks slope = 0;
  Ticks distance = endless;
};

// Adds an upper bound of the time for which the task, with response R, delays another one in a window. The time has
// three parts: carry-in, whole jobs and carry-out. It is at most `limit`, which grows with the window.
void add_workload(Piece& piece, const SporadicTask& task, Ticks response, Ticks window, Ticks limit) noexcept {
  const Ticks reach = window + response - task.budget;
  const Ticks begun = reach % task.period;  // since the carry-out job came
  const Ticks workload = reach / task.period * task.budget + std::min(task.budget, begun);
  const bool grows = begun < task.budget;
  piece.sum += std::min(workload, limit);
  piece.distance = std::min(piece.distance, (grows ? task.budget : task.period) - begun);
  if (limit < workload && !grows) piece.distance = std::min(piece.distance, workload - limit);
  if (grows || limit < workload) ++piece.slope;
}

// Returns a lower bound, above `window`, of the least window that is long enough. `window` is not: it is less than
// budget + sum / cores.
Ticks longer_window(Ticks window, Ticks budget, int cores, const Piece& piece) noexcept {
  const Ticks next = budget + piece.sum / cores;
  if (piece.slope >= cores) return std::max(next, add_up(window, piece.distance) + 1);
  // After d more ticks, the window is too short while budget + (sum + slope d) / cores > window + d.
  const Ticks lacking = (piece.sum - cores * (window + 1 - budget)) / (cores - piece.slope);
  return std::max(next, window + std::min(lacking, piece.distance) + 1);
}

}  // namespace

bool global_response_times(std::span<const SporadicTask> tasks, int cores, std::span<Ticks> responses) noexcept {
  for (std::size_t k = 0; k < tasks.size(); ++k) {
    const Ticks budget = tasks[k].budget;
    Ticks window = budget;
    while (window <= tasks[k].deadline) {
      Piece piece;
      for (std::size_t i = 0; i < k; ++i) add_workload(piece, tasks[i], responses[i], window, window - budget + 1);
      if (budget + piece.sum / cores == window) break;
      window = longer_window(window, budget, cores, piece);
    }
    if (window > tasks[k].deadline) return false;
    responses[k] = window;
  }
  return true;
}

}  // namespace corelane::sched
