#include "orb/eval/report/comparison_tables.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "orb/base/text/counted.h"
#include "orb/eval/report/configuration_table.h"

namespace corelane::eval {
namespace {

std::string interval_text(double low, double high, int digits) {
  return "[" + fixed(low, digits) + ", " + fixed(high, digits) + "]";
}

// Returns a table with the swept fields as its first columns, and a row with their values for each cell.
Table table_of_cells(const ExperimentSummary& summary, std::string title) {
  Table table{.title = std::move(title)};
  if (!summary.cells.empty())
    for (const auto& [field, value] : summary.cells.front().swept) table.columns.push_back(field);
  for (const CellSummary& cell : summary.cells) {
    auto& row = table.rows.emplace_back();
    for (const auto& [field, value] : cell.swept) row.push_back(value);
  }
  return table;
}

const Published* published_for(const std::vector<Published>& published, const std::string& dispatcher) {
  const auto found = std::ranges::find(published, dispatcher, &Published::dispatcher);
  return found == published.end() ? nullptr : &*found;
}

bool some_by_host(const ExperimentSummary& summary) {
  return std::ranges::any_of(summary.cells, [](const CellSummary& cell) {
    return std::ranges::any_of(
        cell.dispatchers, [](const DispatcherSummary& sum) { return sum.own_missed_sets.hits < sum.missed_sets.hits; });
  });
}

Table misses_table(const ExperimentSummary& summary, const std::vector<Published>& published) {
  Table table = table_of_cells(summary, "Sets with a missed deadline: the fraction, with its 95 % interval");
  const auto& dispatchers = summary.cells.front().dispatchers;
  const bool by_host = some_by_host(summary);
  if (by_host) table.notes.push_back("not by host: without misses that a gap of the machine explains.");
  for (std::size_t d = 0; d < dispatchers.size(); ++d) {
    const Published* const theirs = published_for(published, dispatchers[d].dispatcher);
    table.columns.push_back(dispatchers[d].dispatcher);
    table.columns.push_back("95 %");
    if (by_host) table.columns.push_back("not by host");
    if (theirs != nullptr) table.columns.push_back("published");
    for (std::size_t i = 0; i < summary.cells.size(); ++i) {
      const Estimate& missed = summary.cells[i].dispatchers[d].missed_sets;
      table.rows[i].push_back(missed.trials == 0 ? "-" : fixed(missed.value(), 3));
      table.rows[i].push_back(interval_text(missed.low, missed.high, 3));
      if (by_host) table.rows[i].push_back(fixed(summary.cells[i].dispatchers[d].own_missed_sets.value(), 3));
      if (theirs != nullptr) table.rows[i].push_back(i < theirs->values.size() ? theirs->values[i] : "-");
    }
    if (theirs != nullptr && !theirs->source.empty())
      table.notes.push_back("Published for " + theirs->dispatcher + ": " + theirs->source + ".");
  }
  return table;
}

std::string probability_text(double p) { return p < 0.0001 ? "<0.0001" : fixed(p, 4); }

std::string part_text(double part, double whole) { return whole <= 0 ? "-" : fixed(part / whole, 3); }
std::string part_text(std::uint64_t part, std::uint64_t whole) {
  return part_text(static_cast<double>(part), static_cast<double>(whole));
}

bool some_refuse(const ExperimentSummary& summary) {
  return std::ranges::any_of(summary.cells.front().dispatchers, &DispatcherSummary::refuses);
}

Table admission_table(const ExperimentSummary& summary) {
  Table table = table_of_cells(summary, "Admission");
  const auto& dispatchers = summary.cells.front().dispatchers;
  const bool knows_needed =
      std::ranges::find(dispatchers, without_rejection, &DispatcherSummary::dispatcher) != dispatchers.end();
  std::uint64_t admitted = 0, tasks = 0;
  for (std::size_t d = 0; d < dispatchers.size(); ++d) {
    if (!dispatchers[d].refuses) continue;
    for (const char* const column : {"dispatcher", "tasks", "utilization", "whole sets", "needed", "undecided", "late"})
      table.columns.emplace_back(column);
    for (std::size_t i = 0; i < summary.cells.size(); ++i) {
      const DispatcherSummary& sum = summary.cells[i].dispatchers[d];
      admitted += sum.admitted, tasks += sum.tasks;
      for (std::string cell :
           {sum.dispatcher, part_text(sum.admitted, sum.tasks), part_text(sum.admitted_utilization, sum.utilization),
            fixed(sum.admitted_sets.value(), 3), knows_needed ? std::to_string(sum.necessary_refusals) : "-",
            knows_needed ? std::to_string(sum.undecided_refusals) : "-", std::to_string(sum.late_tasks)})
        table.rows[i].push_back(std::move(cell));
    }
  }
  table.notes = {"tasks, utilization: the part that is admitted. whole sets: sets of which every task is admitted."};
  if (knows_needed) {
    table.notes.emplace_back(
        "needed: refused tasks. Under mc-orb*, which admits all, they or others of their set were late.");
    table.notes.emplace_back(
        "undecided: refused tasks. Under mc-orb* no task of their set was late: the analysis may be too cautious.");
  } else {
    table.notes.emplace_back(
        "needed, undecided: not known, because mc-orb* did not run. Add it to experiment.dispatchers.");
  }
  table.notes.push_back(
      "late: admitted tasks that missed a deadline. Of all tasks, " +
      fixed(static_cast<double>(admitted) / static_cast<double>(std::max<std::uint64_t>(tasks, 1)), 4) +
      " are admitted.");
  return table;
}

// Returns "better in 9 of 12 combinations, worse in 0, no worse in 2, undecided in 1".
std::string tally_text(const std::vector<Verdict>& verdicts) {
  std::string text;
  for (const Verdict verdict : {Verdict::better, Verdict::worse, Verdict::no_worse, Verdict::undecided}) {
    text += (text.empty() ? "" : ", ") + std::string(name_of(verdict)) + " in " +
            std::to_string(std::ranges::count(verdicts, verdict));
    if (verdict == Verdict::better) text += " of " + counted(verdicts.size(), "combination");
  }
  return text;
}

void add_difference_columns(Table& table) {
  for (const char* const column : {"sets", "difference", "95 %", "p (McNemar)", "p (Holm)", "verdict"})
    table.columns.emplace_back(column);
}

void add_difference(const Difference& d, std::vector<std::string>& row) {
  for (std::string cell : {std::to_string(d.sets), fixed(d.value, 3), interval_text(d.low, d.high, 3),
                           probability_text(d.p), probability_text(d.adjusted_p), std::string(name_of(d.verdict))})
    row.push_back(std::move(cell));
}

// `widest`: half of the widest interval. `limit`: when a difference is no worse.
std::string note_of_verdicts(double widest, const std::string& limit) {
  return "The widest interval is +-" + fixed(widest, 3) + ". no worse: no significant difference, and the " + limit +
         ".";
}

Table differences_table(const ExperimentSummary& summary, std::size_t difference) {
  const std::string& dispatcher = summary.cells.front().differences[difference].dispatcher;
  Table table = table_of_cells(summary, dispatcher + " against " + summary.baseline +
                                            ": difference of the fractions of sets with a missed deadline");
  add_difference_columns(table);
  double widest = 0;
  std::vector<Verdict> verdicts;
  for (std::size_t i = 0; i < summary.cells.size(); ++i) {
    const Difference& d = summary.cells[i].differences[difference];
    widest = std::max(widest, (d.high - d.low) / 2);
    verdicts.push_back(d.verdict);
    add_difference(d, table.rows[i]);
  }
  table.notes = {dispatcher + " is " + tally_text(verdicts) + ".",
                 note_of_verdicts(widest, "upper end of the interval is below " + fixed(no_worse_limit, 2))};
  return table;
}

// Returns a table with a row for each cell that has not the first value of the sweep.
Table policy_differences_table(const ExperimentSummary& summary, const PolicyComparison& comparison) {
  Table table = table_of_cells(summary, comparison.dispatcher + " against " + comparison.dispatcher + " with " +
                                            comparison.field + " = " + comparison.first +
                                            ": difference of the fractions of whole sets");
  add_difference_columns(table);
  double widest = 0;
  std::vector<std::pair<std::string, std::vector<Verdict>>> verdicts;  // of each value, in the order of the sweep
  std::vector<std::vector<std::string>> rows;
  for (const PolicyDifference& policy : comparison.differences) {
    const Difference& d = policy.difference;
    widest = std::max(widest, (d.high - d.low) / 2);
    const std::string& value =
        std::ranges::find(summary.cells[policy.cell].swept, comparison.field, &SweptValues::value_type::first)->second;
    auto known = std::ranges::find(verdicts, value, &std::pair<std::string, std::vector<Verdict>>::first);
    if (known == verdicts.end()) known = verdicts.insert(known, {value, {}});
    known->second.push_back(d.verdict);
    add_difference(d, rows.emplace_back(std::move(table.rows[policy.cell])));
  }
  table.rows = std::move(rows);
  for (const auto& [value, of_value] : verdicts)
    table.notes.push_back(comparison.field + " = " + value + " is " + tally_text(of_value) + ".");
  table.notes.push_back(note_of_verdicts(widest, "lower end of the interval is above -" + fixed(no_worse_limit, 2)));
  return table;
}

}  // namespace

std::vector<Table> tables_of(const ExperimentSummary& summary, const std::vector<Published>& published) {
  if (summary.cells.empty()) return {};
  if (auto table = configuration_table(summary, published)) return {*std::move(table)};
  std::vector<Table> tables{misses_table(summary, published)};
  if (some_refuse(summary)) tables.push_back(admission_table(summary));
  for (const PolicyComparison& comparison : summary.policies)
    tables.push_back(policy_differences_table(summary, comparison));
  for (std::size_t i = 0; i < summary.cells.front().differences.size(); ++i)
    tables.push_back(differences_table(summary, i));
  return tables;
}

}  // namespace corelane::eval
