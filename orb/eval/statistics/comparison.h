// A comparison sums up the results of an experiment. For each combination of the sweeps, it has the results of the sets
// under each dispatcher, and whether a dispatcher differs from the baseline. All dispatchers run the same sets, so they
// are compared in pairs. The unit is the set, never the job, because the jobs of a set depend on each other.
//
// Threads: pure functions. They allocate.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orb/eval/results.h"

namespace corelane::eval {

// The dispatcher that tells which refusals were needed: it admits every task.
inline constexpr std::string_view without_rejection = "mc-orb*";

// A fraction with its 95 % interval.
struct Estimate {
  std::uint64_t hits = 0;
  std::uint64_t trials = 0;
  double low = 0, high = 1;

  double value() const { return trials == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(trials); }
};

struct DispatcherSummary {
  std::string dispatcher{};
  bool refuses = false;
  Estimate missed_sets{};      // of the sets
  Estimate own_missed_sets{};  // without misses that the machine caused
  Estimate admitted_sets{};    // sets of which every task was admitted
  std::uint64_t tasks = 0, admitted = 0, late_tasks = 0;
  double utilization = 0, admitted_utilization = 0;  // of all sets together; 1 is a whole core
  std::uint64_t jobs = 0, misses = 0;
  // Refused tasks of sets that miss a deadline if no task is refused (under mc-orb*), and of the other sets. Of these
  // it is not known whether the refusal was necessary. Both are 0 if mc-orb* did not run.
  std::uint64_t necessary_refusals = 0, undecided_refusals = 0;
};

enum class Verdict : std::uint8_t {
  better,    // fewer sets miss a deadline, and the difference is significant after Holm's adjustment over the cells
  worse,     // the opposite
  no_worse,  // neither, and the upper end of the difference's interval is below `no_worse_limit`
  undecided,
};
inline constexpr double no_worse_limit = 0.02;

std::string_view name_of(Verdict verdict) noexcept;

// A dispatcher against the baseline: the fraction of its sets that miss a deadline minus that of the baseline.
struct Difference {
  std::string dispatcher{};
  std::uint64_t sets = 0, only_here = 0, only_baseline = 0;  // only_...: sets that miss a deadline under one of them
  double value = 0, low = -1, high = 1;                      // with the 95 % interval
  double p = 1, adjusted_p = 1;                              // McNemar's exact test; after Holm
  Verdict verdict = Verdict::undecided;
};

struct CellSummary {
  SweptValues swept{};
  std::vector<DispatcherSummary> dispatchers{};
  std::vector<Difference> differences{};
};

struct ExperimentSummary {
  std::string baseline{};
  std::vector<CellSummary> cells{};
};

// What is compared.
struct Compared {
  std::vector<SweptValues> cells{};  // SetResult::cell is an index
  std::vector<std::string> dispatchers{};
  std::string baseline{};  // one of them, or empty: nothing is compared
};

// Leaves out results of other cells and dispatchers. A set counts for a difference if it ran under both dispatchers.
ExperimentSummary summarize(const Compared& compared, std::span<const SetResult> results);

}  // namespace corelane::eval
