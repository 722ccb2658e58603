#include "orb/sched/response_time.h"

#include <algorithm>
#include <cmath>

namespace corelane::sched {
namespace {

// One evaluation of the right-hand side, without the task's own jobs; `endless` once it passes `limit`.
Ticks interference(Ticks window, std::span<const Interference> above, Ticks limit) noexcept {
  Ticks sum = 0;
  for (const Interference& other : above) {
    sum = add_up(sum, multiply_up(ceil_div(add_up(window, other.jitter), other.period), other.budget));
    if (sum > limit) return endless;
  }
  return sum;
}

struct Window {
  Response::Verdict verdict;
  Ticks length;
};

// The least fixpoint w(q) at or above `start`, which must not lie above it. Past `limit` the answer is late.
Window least_window(Ticks own, Ticks start, std::span<const Interference> above, Ticks limit,
                    int& iterations) noexcept {
  Ticks window = std::max(start, own);
  while (window <= limit) {
    if (iterations-- <= 0) return {Response::Verdict::undecided, window};
    const Ticks next = add_up(own, interference(window, above, limit));
    if (next == window) return {Response::Verdict::exact, window};
    window = next;
  }
  return {Response::Verdict::late, window};
}

}  // namespace

Response response_time(const Analysed& task, std::span<const Interference> above, const Limits& limits,
                       const Windows& at_least, Windows* keep) noexcept {
  int iterations = limits.iterations;
  Windows found;
  Ticks worst = 0;
  Ticks previous = 0;
  for (Ticks q = 0;; ++q) {  // ends with the busy period, at the deadline, or when the iterations are used up
    const Ticks nominal = multiply_up(q, task.period);
    const Ticks own = add_up(task.blocking, multiply_up(q + 1, task.budget));
    // J + w - q T <= stop_above
    const Ticks limit = std::min(add_up(limits.stop_above, nominal), endless - 1) - task.jitter;
    const Ticks known = static_cast<std::size_t>(q) < at_least.count ? at_least.w[static_cast<std::size_t>(q)] : 0;
    const Window window = least_window(own, std::max(known, add_up(previous, task.budget)), above, limit, iterations);
    if (window.verdict == Response::Verdict::late)
      return {window.verdict, window.length == endless ? endless : window.length + task.jitter - nominal};
    if (window.verdict == Response::Verdict::undecided) return {window.verdict, 0};
    if (found.count < Windows::capacity) found.w[found.count++] = window.length;
    worst = std::max(worst, task.jitter + window.length - nominal);
    if (task.jitter + window.length <= add_up(nominal, task.period)) break;
    previous = window.length;
  }
  if (keep != nullptr) *keep = found;
  return {Response::Verdict::exact, worst};
}

Ticks busy_period(std::span<const Interference> all, Ticks blocking, int iterations) noexcept {
  const Window window = least_window(blocking, 1, all, endless - 1, iterations);
  return window.verdict == Response::Verdict::exact ? window.length : endless;
}

Ticks response_upper_bound(const Analysed& task, std::span<const Interference> above) noexcept {
  // Floating point, rounded against the task by a margin that covers the error of the sums.
  double work = static_cast<double>(task.blocking) + static_cast<double>(task.budget);
  double load = 0;
  for (const Interference& other : above) {
    const auto budget = static_cast<double>(other.budget);
    const double u = budget / static_cast<double>(other.period);
    work += budget * (1 - u) + static_cast<double>(other.jitter) * u;
    load += u;
  }
  const double own = static_cast<double>(task.budget) / static_cast<double>(task.period);
  constexpr double margin = 1e-8;
  if (load + own > 1 - 1e-4) return endless;  // closer to 1 the division would magnify the error past the margin
  const double bound = static_cast<double>(task.jitter) + work / (1 - load) * (1 + margin) + 1;
  return bound < 9e18 ? static_cast<Ticks>(std::ceil(bound)) : endless;
}

}  // namespace corelane::sched
