#include "orb/eval/statistics/comparison.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>

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

// CellCounter sums up the sets of one cell.
class CellCounter {
 public:
  CellCounter(const std::vector<std::string>& dispatchers, const SetsOfCell& sets)
      : dispatchers_(dispatchers), sets_(sets), starred_(index_of(without_rejection)) {}

  DispatcherSummary summary_of(std::size_t dispatcher) const {
    DispatcherSummary sum{.dispatcher = dispatchers_[dispatcher]};
    const Dispatcher* const known = find_named(eval::dispatchers(), sum.dispatcher);
    sum.refuses = known != nullptr && known->refuses;
    std::uint64_t sets = 0, missed = 0, missed_by_itself = 0, whole = 0;
    for (const auto& [number, under] : sets_) {
      const SetResult* const result = under[dispatcher];
      if (result == nullptr) continue;
      ++sets;
      if (result->missed()) ++missed;
      if (result->misses > result->host_misses) ++missed_by_itself;
      if (result->admitted == result->tasks) ++whole;
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
      ++pairs.trials;
      const bool here = under[dispatcher]->missed(), there = under[baseline]->missed();
      if (here && !there) ++pairs.only_a;
      if (there && !here) ++pairs.only_b;
    }
    const Interval interval = paired_difference(pairs);
    const double value = static_cast<double>(pairs.only_a) - static_cast<double>(pairs.only_b);
    return {.dispatcher = dispatchers_[dispatcher],
            .sets = pairs.trials,
            .only_here = pairs.only_a,
            .only_baseline = pairs.only_b,
            .value = pairs.trials == 0 ? 0 : value / static_cast<double>(pairs.trials),
            .low = interval.low,
            .high = interval.high,
            .p = mcnemar(pairs)};
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

Verdict verdict_of(const Difference& difference) {
  if (difference.adjusted_p < significance) return difference.value < 0 ? Verdict::better : Verdict::worse;
  return difference.high < no_worse_limit ? Verdict::no_worse : Verdict::undecided;
}

// Adjusts the p-values of one dispatcher over all cells, and fills in the verdicts.
void adjust(std::vector<CellSummary>& cells, std::size_t difference) {
  std::vector<double> p;
  for (const CellSummary& cell : cells) p.push_back(cell.differences[difference].p);
  const std::vector<double> adjusted = holm(p);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    Difference& here = cells[i].differences[difference];
    here.adjusted_p = adjusted[i];
    here.verdict = verdict_of(here);
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

}  // namespace

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
  for (std::size_t i = 0; i < differences; ++i) adjust(summary.cells, i);
  return summary;
}

}  // namespace corelane::eval
