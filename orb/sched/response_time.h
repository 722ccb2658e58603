// Response-time analysis of fixed-priority preemptive scheduling on one core, after Joseph & Pandya 1986. Blocking and
// release jitter follow Audsley, Burns, Richardson, Tindell & Wellings 1993. Arbitrary deadlines use the level-i busy
// period of Lehoczky 1990, in the form of Tindell, Burns & Wellings 1994:
//
//   w(q) = B + (q+1) C + sum over higher and equal priority of ceil((w(q) + J_j) / T_j) C_j
//   R    = max over q of J + w(q) - q T,   until J + w(q) <= (q+1) T
//
// The result is exact for independent tasks without suspension. With blocking, jitter or equal priorities it is a safe
// bound.
//
// Threads: pure functions. Bound: `Limits` for every loop.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "orb/sched/ticks.h"

namespace corelane::sched {

// A task that delays the analyzed task: one of higher or of equal priority.
struct Interference {
  Ticks budget = 0;  // C > 0
  Ticks period = 1;  // T > 0
  Ticks jitter = 0;  // J >= 0, release jitter

  friend constexpr bool operator==(const Interference&, const Interference&) = default;
};

// The task under analysis.
struct Analysed {
  Ticks budget = 0;    // C > 0; with self-suspension S: C + S
  Ticks period = 1;    // T > 0
  Ticks jitter = 0;    // J >= 0
  Ticks blocking = 0;  // B >= 0
};

struct Limits {
  Ticks stop_above = endless - 1;  // a response above this is reported as `late`, without its exact value
  int iterations = 100'000;        // evaluations of the sum, for all windows together
};

// The fixpoints w(q) of the first windows. The next analysis with more interference can start from them.
struct Windows {
  static constexpr std::size_t capacity = 4;  // later windows start without a value: such a long busy period is rare
  std::array<Ticks, capacity> w{};
  std::size_t count = 0;
};

struct Response {
  enum class Verdict : std::uint8_t { exact, late, undecided };  // undecided: the iterations were used up
  Verdict verdict = Verdict::exact;
  Ticks value = 0;  // R from the nominal release; for `late` a lower bound above Limits::stop_above
};

// Returns the worst-case response time of `task` below the tasks in `above`. `at_least` holds lower bounds of w(0),
// w(1), ... If a task of budget C_new was added to `above`, these are the old w(q) plus C_new. (Starting R, instead of
// each w(q), at R_old + C_new is wrong with jitter.) The old values are not valid after a task has left. `keep`, if
// given, receives the fixpoints of an exact answer.
Response response_time(const Analysed& task, std::span<const Interference> above, const Limits& limits = {},
                       const Windows& at_least = {}, Windows* keep = nullptr) noexcept;

// ResponseSearch computes response_time() in pieces. The answer is the same, however often step() is interrupted.
class ResponseSearch {
 public:
  // Starts a search. `above` must outlive it.
  void begin(const Analysed& task, std::span<const Interference> above, const Limits& limits,
             const Windows& at_least = {}) noexcept;
  // Continues for at most `evaluations` evaluations of the sum and subtracts those it made. An evaluation counts 1,
  // plus 1 for every 64 terms of the sum; one unit takes about half a microsecond. Returns true when the answer is
  // known.
  bool step(int& evaluations) noexcept;
  const Response& response() const noexcept { return response_; }
  const Windows& windows() const noexcept { return found_; }  // valid for an exact answer

 private:
  void begin_window() noexcept;
  void end_window() noexcept;
  bool end(Response::Verdict verdict, Ticks value) noexcept;

  Analysed task_{};
  std::span<const Interference> above_{};
  Limits limits_{};
  Windows at_least_{};
  Windows found_{};
  Response response_{};
  bool done_ = true;
  Ticks q_ = 0;
  Ticks nominal_ = 0;   // q T
  Ticks own_ = 0;       // B + (q+1) C
  Ticks limit_ = 0;     // limit of the window: J + w - q T <= stop_above
  Ticks window_ = 0;    // at or below the least fixpoint w(q)
  Ticks previous_ = 0;  // w(q-1)
  Ticks worst_ = 0;
};

// Returns the longest time that a core can be without an idle instant: the least w = B + sum of ceil((w + J_j) / T_j)
// C_j over all load of the core. If it is not found within `iterations`, returns busy_period_bound() for the same load.
// Returns `endless` if there is no bound.
Ticks busy_period(std::span<const Interference> all, Ticks blocking, int iterations = Limits{}.iterations) noexcept;

// BusySearch computes busy_period() in pieces.
class BusySearch {
 public:
  // Starts a search. `all` must outlive it.
  void begin(std::span<const Interference> all, Ticks blocking, int iterations) noexcept;
  // Works like ResponseSearch::step().
  bool step(int& evaluations) noexcept;
  Ticks longest() const noexcept { return longest_; }

 private:
  bool end(Ticks longest) noexcept;

  std::span<const Interference> all_{};
  Ticks blocking_ = 0;
  int iterations_ = 0;
  Ticks window_ = 0;
  Ticks longest_ = endless;
  bool done_ = true;
};

// Returns the upper bound of Bini, Nguyen, Richard & Baruah 2009: R <= J + (B + C + sum (C_j (1 - U_j) + J_j U_j)) / (1
// - sum U_j). It takes one pass without iteration. It is also valid for arbitrary deadlines, as long as the core is not
// overloaded. If the core is overloaded, returns `endless`.
Ticks response_upper_bound(const Analysed& task, std::span<const Interference> above) noexcept;

// The terms that one task adds to the sums of that bound. With them, the sums need not be computed again for each of
// many analyzed tasks.
struct BoundTerms {
  double work = 0;  // C (1 - U) + J U
  double load = 0;  // U

  BoundTerms& operator+=(const BoundTerms& other) noexcept;
  BoundTerms& operator-=(const BoundTerms& other) noexcept;
};
BoundTerms bound_terms(const Interference& other) noexcept;
Ticks response_upper_bound(const Analysed& task, const BoundTerms& above) noexcept;

// Returns an upper bound of busy_period() in one pass: (B + sum (C_j + J_j U_j)) / (1 - sum U_j). Returns `endless` if
// the utilization is 1 or more.
Ticks busy_period_bound(std::span<const Interference> all, Ticks blocking) noexcept;

}  // namespace corelane::sched
