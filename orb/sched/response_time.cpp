#include "orb/sched/response_time.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "orb/sched/share.h"

namespace corelane::sched {
namespace {

// Makes one evaluation of the right-hand side, without the task's own jobs. Returns `endless` if the sum exceeds
// `limit`.
Ticks interference(Ticks window, std::span<const Interference> above, Ticks limit) noexcept {
  Ticks sum = 0;
  for (const Interference& other : above) {
    sum = add_up(sum, multiply_up(ceil_div(add_up(window, other.jitter), other.period), other.budget));
    if (sum > limit) return endless;
  }
  return sum;
}

// Returns what one evaluation counts as: a sum of up to 64 terms takes about half a microsecond.
int cost_of(std::span<const Interference> above) noexcept { return 1 + static_cast<int>(above.size()) / 64; }

}  // namespace

void ResponseSearch::begin(const Analysed& task, std::span<const Interference> above, const Limits& limits,
                           const Windows& at_least) noexcept {
  task_ = task;
  above_ = above;
  limits_ = limits;
  at_least_ = at_least;
  found_ = {};
  done_ = false;
  q_ = previous_ = worst_ = 0;
  begin_window();
}

void ResponseSearch::begin_window() noexcept {
  nominal_ = multiply_up(q_, task_.period);
  own_ = add_up(task_.blocking, multiply_up(q_ + 1, task_.budget));
  limit_ = std::min(add_up(limits_.stop_above, nominal_), endless - 1) - task_.jitter;
  const auto q = static_cast<std::size_t>(q_);
  const Ticks known = q < at_least_.count ? at_least_.w[q] : 0;
  window_ = std::max({known, add_up(previous_, task_.budget), own_});
}

// Makes one evaluation per round. Ends with the busy period, at the deadline, or when the iterations are used up.
bool ResponseSearch::step(int& evaluations) noexcept {
  while (!done_) {
    if (window_ > limit_)
      return end(Response::Verdict::late, window_ == endless ? endless : window_ + task_.jitter - nominal_);
    if (evaluations <= 0) return false;
    evaluations -= cost_of(above_);
    if (limits_.iterations-- <= 0) return end(Response::Verdict::undecided, 0);
    const Ticks next = add_up(own_, interference(window_, above_, limit_));
    if (next == window_)
      end_window();
    else
      window_ = next;
  }
  return true;
}

void ResponseSearch::end_window() noexcept {
  if (found_.count < Windows::capacity) found_.w[found_.count++] = window_;
  worst_ = std::max(worst_, task_.jitter + window_ - nominal_);
  if (task_.jitter + window_ <= add_up(nominal_, task_.period)) {
    end(Response::Verdict::exact, worst_);
    return;
  }
  previous_ = window_;
  ++q_;
  begin_window();
}

bool ResponseSearch::end(Response::Verdict verdict, Ticks value) noexcept {
  response_ = {verdict, value};
  return done_ = true;
}

Response response_time(const Analysed& task, std::span<const Interference> above, const Limits& limits,
                       const Windows& at_least, Windows* keep) noexcept {
  ResponseSearch search;
  search.begin(task, above, limits, at_least);
  int unlimited = std::numeric_limits<int>::max();
  search.step(unlimited);
  if (keep != nullptr && search.response().verdict == Response::Verdict::exact) *keep = search.windows();
  return search.response();
}

Ticks busy_period(std::span<const Interference> all, Ticks blocking, int iterations) noexcept {
  BusySearch search;
  search.begin(all, blocking, iterations);
  int unlimited = std::numeric_limits<int>::max();
  search.step(unlimited);
  return search.longest();
}

void BusySearch::begin(std::span<const Interference> all, Ticks blocking, int iterations) noexcept {
  all_ = all;
  blocking_ = blocking;
  iterations_ = iterations;
  window_ = std::max<Ticks>(blocking, 1);
  done_ = false;
}

bool BusySearch::step(int& evaluations) noexcept {
  while (!done_) {
    if (evaluations <= 0) return false;
    evaluations -= cost_of(all_);
    if (window_ == endless) return end(endless);
    if (iterations_-- <= 0) return end(busy_period_bound(all_, blocking_));
    const Ticks next = add_up(blocking_, interference(window_, all_, endless - 1));
    if (next == window_) return end(next);
    window_ = next;
  }
  return true;
}

bool BusySearch::end(Ticks longest) noexcept {
  longest_ = longest;
  return done_ = true;
}

BoundTerms& BoundTerms::operator+=(const BoundTerms& other) noexcept {
  work += other.work;
  load += other.load;
  return *this;
}

BoundTerms& BoundTerms::operator-=(const BoundTerms& other) noexcept {
  work -= other.work;
  load -= other.load;
  return *this;
}

BoundTerms bound_terms(const Interference& other) noexcept {
  const auto budget = static_cast<double>(other.budget);
  const double u = budget / static_cast<double>(other.period);
  return {.work = budget * (1 - u) + static_cast<double>(other.jitter) * u, .load = u};
}

// Uses floating point. The result is rounded up by a margin that covers the error of the sums.
Ticks response_upper_bound(const Analysed& task, const BoundTerms& above) noexcept {
  const double own = static_cast<double>(task.budget) / static_cast<double>(task.period);
  constexpr double margin = 1e-8;
  // Closer to 1, the division could magnify the error beyond the margin.
  if (above.load + own > 1 - 1e-4) return endless;
  const double work = static_cast<double>(task.blocking) + static_cast<double>(task.budget) + above.work;
  const double bound = static_cast<double>(task.jitter) + work / (1 - above.load) * (1 + margin) + 1;
  return bound < 9e18 ? static_cast<Ticks>(std::ceil(bound)) : endless;
}

Ticks response_upper_bound(const Analysed& task, std::span<const Interference> above) noexcept {
  BoundTerms sum;
  for (const Interference& other : above) sum += bound_terms(other);
  return response_upper_bound(task, sum);
}

Ticks busy_period_bound(std::span<const Interference> all, Ticks blocking) noexcept {
  Share load = 0;
  Wide work = Wide{blocking} * whole_share;
  for (const Interference& one : all) {
    const Share share = share_of(one.budget, one.period);
    load += share;
    work += Wide{one.budget} * whole_share + Wide{one.jitter} * share;
  }
  if (load >= whole_share) return endless;
  const Wide bound = work / (whole_share - load) + 1;
  return bound < endless ? static_cast<Ticks>(bound) : endless;
}

}  // namespace corelane::sched
