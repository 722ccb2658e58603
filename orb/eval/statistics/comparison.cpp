#include "orb/eval/statistics/comparison.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <utility>

#include "orb/base/registry.h"
#include "orb/eval/dispatchers.h"
#include "orb/eval/statistics/intervals.h"
#include "orb/eval/statistics/significance.h"

namespace corelane::eval {
namespace {

double cores_of(Fraction fraction) { return static_cast<double>(fraction.millionths) / 1e6; }

Estimate estimate_of(std::uint64_t hits, std::uint64_t trials) {
  const Interval interval = wilson(hits, trials);
  return {.hits = hits, .trials = trials, .low = interval.low, .high = interval.high};
}

// The results of one set under the dispatchers that were asked for; null: it did not run.
using SetUnderAll = std::vector<const SetResult*>;
using SetsOfCell = std::map<std::int64_t, SetUnderAll>;

bool refuses_tasks(std::string_view dispatcher) {
  const Dispatcher* const known = find_named(eval::dispatchers(), dispatcher);
  return known != nullptr && known->refuses;
}

bool has_all_admitted(const SetResult& result) { return result.admitted == result.tasks; }

// Counts a set that ran twice. `a`, `b`: whether it hit.
void count_pair(bool a, bool b, Pairs& pairs) {
  ++pairs.trials;
  if (a && !b) ++pairs.only_a;
  if (b && !a) ++pairs.only_b;
}

Difference difference_of_pairs(const std::string& dispatcher, const Pairs& pairs) {
  const Interval interval = paired_difference(pairs);
  const double value = static_cast<double>(pairs.only_a) - static_cast<double>(pairs.only_b);
  return {.dispatcher = dispatcher,
          .sets = pairs.trials,
          .only_here = pairs.only_a,
          .only_baseline = pairs.only_b,
          .value = pairs.trials == 0 ? 0 : value / static_cast<double>(pairs.trials),
          .low = interval.low,
          .high = interval.high,
          .p = mcnemar(pairs)};
}

// CellCounter sums up the sets of one cell.
class CellCounter {
 public:
  CellCounter(const std::vector<std::string>& dispatchers, const SetsOfCell& sets)
      : dispatchers_(dispatchers), sets_(sets), starred_(index_of(without_rejection)) {}

  DispatcherSummary summary_of(std::size_t dispatcher) const {
    DispatcherSummary sum{.dispatcher = dispatchers_[dispatcher]};
    sum.refuses = refuses_tasks(sum.dispatcher);
    std::uint64_t sets = 0, missed = 0, missed_by_itself = 0, whole = 0;
    for (const auto& [number, under] : sets_) {
      const SetResult* const result = under[dispatcher];
      if (result == nullptr) continue;
      ++sets;
      if (result->missed()) ++missed;
      if (result->misses > result->host_misses) ++missed_by_itself;
      if (has_all_admitted(*result)) ++whole;
      add(sum, *result, starred_ < under.size() ? under[starred_] : nullptr);
    }
    sum.missed_sets = estimate_of(missed, sets);
    sum.own_missed_sets = estimate_of(missed_by_itself, sets);
    sum.admitted_sets = estimate_of(whole, sets);
    return sum;
  }

  Difference difference_of(std::size_t dispatcher, std::size_t baseline) const {
    Pairs pairs;
    for (const auto& [number, under] : sets_) {
      if (under[dispatcher] == nullptr || under[baseline] == nullptr) continue;
      count_pair(under[dispatcher]->missed(), under[baseline]->missed(), pairs);
    }
    return difference_of_pairs(dispatchers_[dispatcher], pairs);
  }

 private:
  std::size_t index_of(std::string_view name) const {
    return static_cast<std::size_t>(std::ranges::find(dispatchers_, name) - dispatchers_.begin());
  }

  static void add(DispatcherSummary& sum, const SetResult& result, const SetResult* starred) {
    sum.tasks += result.tasks;
    sum.admitted += result.admitted;
    sum.late_tasks += result.late_tasks;
    sum.utilization += cores_of(result.utilization);
    sum.admitted_utilization += cores_of(result.admitted_utilization);
    sum.jobs += result.jobs;
    sum.misses += result.misses;
    if (starred == nullptr) return;
    (starred->missed() ? sum.necessary_refusals : sum.undecided_refusals) += result.tasks - result.admitted;
  }

  const std::vector<std::string>& dispatchers_;
  const SetsOfCell& sets_;
  const std::size_t starred_;
};

// What a positive difference means.
enum class MoreIs : std::uint8_t { better, worse };

Verdict verdict_of(const Difference& difference, MoreIs more) {
  const bool is_more_worse = more == MoreIs::worse;
  const double harm = is_more_worse ? difference.value : -difference.value;
  const double most_harm = is_more_worse ? difference.high : -difference.low;
  if (difference.adjusted_p < significance) return harm < 0 ? Verdict::better : Verdict::worse;
  return most_harm < no_worse_limit ? Verdict::no_worse : Verdict::undecided;
}

// Adjusts the p-values of one table, and fills in the verdicts.
void adjust(const std::vector<Difference*>& differences, MoreIs more) {
  std::vector<double> p;
  for (const Difference* const difference : differences) p.push_back(difference->p);
  const std::vector<double> adjusted = holm(p);
  for (std::size_t i = 0; i < differences.size(); ++i) {
    differences[i]->adjusted_p = adjusted[i];
    differences[i]->verdict = verdict_of(*differences[i], more);
  }
}

std::vector<SetsOfCell> sorted_results(const Compared& compared, std::span<const SetResult> results) {
  std::vector<SetsOfCell> cells(compared.cells.size());
  for (const SetResult& result : results) {
    const auto at = std::ranges::find(compared.dispatchers, result.dispatcher);
    if (result.cell >= cells.size() || at == compared.dispatchers.end()) continue;
    SetUnderAll& set = cells[result.cell][result.set];
    set.resize(compared.dispatchers.size());
    set[static_cast<std::size_t>(at - compared.dispatchers.begin())] = &result;
  }
  return cells;
}

// Compares two cells under one dispatcher.
Difference difference_of_cells(const SetsOfCell& here, const SetsOfCell& there, const std::string& name,
                               std::size_t dispatcher) {
  Pairs pairs;
  for (const auto& [number, under] : here) {
    const auto other = there.find(number);
    if (other == there.end() || under[dispatcher] == nullptr || other->second[dispatcher] == nullptr) continue;
    count_pair(has_all_admitted(*under[dispatcher]), has_all_admitted(*other->second[dispatcher]), pairs);
  }
  return difference_of_pairs(name, pairs);
}

// PolicyComparer compares the values of swept policies.
class PolicyComparer {
 public:
  PolicyComparer(const Compared& compared, const std::vector<SetsOfCell>& sets) : compared_(compared), sets_(sets) {
    for (std::size_t i = 0; i < compared.cells.size(); ++i) numbers_.emplace(compared.cells[i], i);
  }

  std::vector<PolicyComparison> comparisons() const {
    std::vector<PolicyComparison> result;
    const std::size_t sweeps = compared_.cells.empty() ? 0 : compared_.cells.front().size();
    for (std::size_t sweep = 0; sweep < sweeps; ++sweep) {
      if (!is_policy(compared_.cells.front()[sweep].first)) continue;
      for (std::size_t d = 0; d < compared_.dispatchers.size(); ++d) {
        if (!refuses_tasks(compared_.dispatchers[d])) continue;
        PolicyComparison comparison = comparison_of(sweep, d);
        if (!comparison.differences.empty()) result.push_back(std::move(comparison));
      }
    }
    return result;
  }

 private:
  PolicyComparison comparison_of(std::size_t sweep, std::size_t dispatcher) const {
    const auto& [field, first] = compared_.cells.front()[sweep];
    PolicyComparison comparison{.field = field, .first = first, .dispatcher = compared_.dispatchers[dispatcher]};
    for (std::size_t cell = 0; cell < compared_.cells.size(); ++cell) {
      if (compared_.cells[cell][sweep].second == first) continue;
      SweptValues swept = compared_.cells[cell];
      swept[sweep].second = first;
      const auto there = numbers_.find(swept);
      if (there == numbers_.end()) continue;  // a part of the experiment may lack it
      comparison.differences.push_back(
          {.cell = cell,
           .difference = difference_of_cells(sets_[cell], sets_[there->second], comparison.dispatcher, dispatcher)});
    }
    std::vector<Difference*> all;
    for (PolicyDifference& policy : comparison.differences) all.push_back(&policy.difference);
    adjust(all, MoreIs::better);
    return comparison;
  }

  const Compared& compared_;
  const std::vector<SetsOfCell>& sets_;
  std::map<SweptValues, std::size_t> numbers_{};  // of the cells
};

}  // namespace

bool is_policy(std::string_view field) noexcept { return field.starts_with(policy_prefix); }

std::string_view name_of(Verdict verdict) noexcept {
  static constexpr std::array<std::string_view, 4> names{"better", "worse", "no worse", "undecided"};
  return names[static_cast<std::size_t>(verdict)];
}

ExperimentSummary summarize(const Compared& compared, std::span<const SetResult> results) {
  ExperimentSummary summary{.baseline = compared.baseline};
  const std::vector<SetsOfCell> sorted = sorted_results(compared, results);
  const auto baseline = static_cast<std::size_t>(std::ranges::find(compared.dispatchers, compared.baseline) -
                                                 compared.dispatchers.begin());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const CellCounter counter(compared.dispatchers, sorted[i]);
    CellSummary& cell = summary.cells.emplace_back(CellSummary{.swept = compared.cells[i]});
    for (std::size_t d = 0; d < compared.dispatchers.size(); ++d) {
      cell.dispatchers.push_back(counter.summary_of(d));
      if (baseline < compared.dispatchers.size() && d != baseline)
        cell.differences.push_back(counter.difference_of(d, baseline));
    }
  }
  const std::size_t differences = summary.cells.empty() ? 0 : summary.cells.front().differences.size();
  for (std::size_t i = 0; i < differences; ++i) {
    std::vector<Difference*> all;
    for (CellSummary& cell : summary.cells) all.push_back(&cell.differences[i]);
    adjust(all, MoreIs::worse);
  }
  summary.policies = PolicyComparer(compared, sorted).comparisons();
  return summary;
}

}  // namespace corelane::eval
