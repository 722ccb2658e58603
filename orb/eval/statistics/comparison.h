// A comparison sums up the results of an experiment. For each combination of the sweeps, it has the results of the sets
// under each dispatcher, and whether a dispatcher differs from the baseline. For each sweep over a policy, it has
// whether the other policies differ from the first one. All dispatchers and all policies run the same sets, so they are
// compared in pairs. The unit is the set, never the job, because the jobs of a set depend on each other.
//
// Threads: pure functions. They allocate.
#pragma once

#include <cstddef>
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

// Better are fewer sets with a missed deadline, and more sets of which every task is admitted.
enum class Verdict : std::uint8_t {
  better,    // the difference is significant after Holm's adjustment over the cells
  worse,     // the opposite
  no_worse,  // neither, and the interval of the difference does not reach `no_worse_limit` on the side of worse
  undecided,
};
inline constexpr double no_worse_limit = 0.02;

std::string_view name_of(Verdict verdict) noexcept;

// A fraction of sets minus that of the same sets under the baseline. The fraction is that of sets that miss a deadline,
// or that of sets of which every task is admitted.
struct Difference {
  std::string dispatcher{};
  std::uint64_t sets = 0, only_here = 0, only_baseline = 0;  // only_...: sets that count under one of the two only
  double value = 0, low = -1, high = 1;                      // with the 95 % interval
  double p = 1, adjusted_p = 1;                              // McNemar's exact test; after Holm
  Verdict verdict = Verdict::undecided;
};

struct CellSummary {
  SweptValues swept{};
  std::vector<DispatcherSummary> dispatchers{};
  std::vector<Difference> differences{};
};

// A cell with another policy against the cell that has the first policy and equals it in all other swept values.
struct PolicyDifference {
  std::size_t cell = 0;  // index in ExperimentSummary::cells
  Difference difference{};
};

// The values of a swept policy against the first value of that sweep, under a dispatcher that refuses tasks. It
// compares the fractions of sets of which every task is admitted. The p-values are adjusted over all these cells.
struct PolicyComparison {
  std::string field{};  // such as "policy.allocation"
  std::string first{};  // its first value
  std::string dispatcher{};
  std::vector<PolicyDifference> differences{};  // at least one
};

struct ExperimentSummary {
  std::string baseline{};
  std::vector<CellSummary> cells{};
  std::vector<PolicyComparison> policies{};  // for each sweep over a policy, and each dispatcher that refuses tasks
};

// What is compared.
struct Compared {
  std::vector<SweptValues> cells{};  // SetResult::cell is an index
  std::vector<std::string> dispatchers{};
  std::string baseline{};  // one of them, or empty: nothing is compared
};

// How the names of fields that are policies begin, such as "policy.allocation".
inline constexpr std::string_view policy_prefix = "policy.";
bool is_policy(std::string_view field) noexcept;

// Leaves out results of other cells and dispatchers. A set counts for a difference if it ran under both dispatchers, or
// with both policies.
ExperimentSummary summarize(const Compared& compared, std::span<const SetResult> results);

}  // namespace corelane::eval
