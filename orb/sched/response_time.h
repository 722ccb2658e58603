// Response-time analysis of fixed-priority preemptive scheduling on one core: Joseph & Pandya 1986; blocking and
// release jitter after Audsley, Burns, Richardson, Tindell & Wellings 1993; arbitrary deadlines by the level-i busy
// period of Lehoczky 1990, as Tindell, Burns & Wellings 1994 write it:
//
//   w(q) = B + (q+1) C + sum over higher and equal priority of ceil((w(q) + J_j) / T_j) C_j
//   R    = max over q of J + w(q) - q T,   until J + w(q) <= (q+1) T
//
// Exact for independent tasks without suspension; with blocking, jitter or equal priorities a safe bound.
// Threads: pure functions. Every loop is bounded by `Limits`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "orb/sched/ticks.h"

namespace corelane::sched {

// A task as it bears on others: what runs above it, or beside it on the same level.
struct Interference {
  Ticks budget = 0;  // C > 0
  Ticks period = 1;  // T > 0
  Ticks jitter = 0;  // J >= 0, of its releases

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
  Ticks stop_above = endless - 1;  // a response above this is reported as `late` without its exact value
  int iterations = 100'000;        // evaluations of the sum, all windows together
};

// The fixpoints w(q) of the first windows. Kept, they let the next analysis with more interference start from there.
struct Windows {
  static constexpr std::size_t capacity = 4;  // later windows start cold: a busy period so long is rare
  std::array<Ticks, capacity> w{};
  std::size_t count = 0;
};

struct Response {
  enum class Verdict : std::uint8_t { exact, late, undecided };  // undecided: the iterations ran out
  Verdict verdict = Verdict::exact;
  Ticks value = 0;  // R from the nominal release; when late a lower bound of it, above Limits::stop_above
};

// `at_least` are lower bounds of w(0), w(1), ...: after a task of budget C_new joined those in `above`, the old w(q)
// plus C_new. (Starting R, rather than each w(q), at R_old + C_new is wrong with jitter.) Not valid once a task has
// left. `keep`, where given, receives the fixpoints of an exact answer.
Response response_time(const Analysed& task, std::span<const Interference> above, const Limits& limits = {},
                       const Windows& at_least = {}, Windows* keep = nullptr) noexcept;

// response_time() in pieces: the same answer, however often step() is interrupted.
class ResponseSearch {
 public:
  // `above` outlives the search.
  void begin(const Analysed& task, std::span<const Interference> above, const Limits& limits,
             const Windows& at_least = {}) noexcept;
  // Evaluates the sum as often as `evaluations` says at most, and counts them off: one for each 64 terms of a sum, so
  // that one is about half a microsecond, and at least one. Whether the answer is there.
  bool step(int& evaluations) noexcept;
  const Response& response() const noexcept { return response_; }
  const Windows& windows() const noexcept { return found_; }  // of an exact answer

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
  Ticks limit_ = 0;     // of the window: J + w - q T <= stop_above
  Ticks window_ = 0;    // at or below the least fixpoint w(q)
  Ticks previous_ = 0;  // w(q-1)
  Ticks worst_ = 0;
};

// The longest time that a core can be without an idle instant: the least w = B + sum of ceil((w + J_j) / T_j) C_j over
// all that runs there. Where it is not found within `iterations`, busy_period_bound() of the same. `endless` when there
// is none.
Ticks busy_period(std::span<const Interference> all, Ticks blocking, int iterations = Limits{}.iterations) noexcept;

// busy_period() in pieces.
class BusySearch {
 public:
  // `all` outlives the search.
  void begin(std::span<const Interference> all, Ticks blocking, int iterations) noexcept;
  // As ResponseSearch::step().
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

// Bini, Nguyen, Richard & Baruah 2009: R <= J + (B + C + sum (C_j (1 - U_j) + J_j U_j)) / (1 - sum U_j), one pass
// without iteration, also for arbitrary deadlines as long as the core is not overloaded; `endless` when it is.
Ticks response_upper_bound(const Analysed& task, std::span<const Interference> above) noexcept;

// What one task adds to the sums of that bound; where many tasks are analysed the sums need not be made anew for each.
struct BoundTerms {
  double work = 0;  // C (1 - U) + J U
  double load = 0;  // U

  BoundTerms& operator+=(const BoundTerms& other) noexcept;
  BoundTerms& operator-=(const BoundTerms& other) noexcept;
};
BoundTerms bound_terms(const Interference& other) noexcept;
Ticks response_upper_bound(const Analysed& task, const BoundTerms& above) noexcept;

// No less than busy_period(), in one pass: (B + sum (C_j + J_j U_j)) / (1 - sum U_j); `endless` when the core is full.
Ticks busy_period_bound(std::span<const Interference> all, Ticks blocking) noexcept;

}  // namespace corelane::sched
