#include "orb/eval/report/configuration_table.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <span>
#include <string>

#include "orb/base/text/counted.h"

namespace corelane::eval {
namespace {

// A configuration: the cells that differ in the last sweeps only.
using Configuration = std::span<const CellSummary>;

std::vector<Configuration> configurations_of(const ExperimentSummary& summary, std::size_t size) {
  std::vector<Configuration> result;
  for (std::size_t at = 0; at + size <= summary.cells.size(); at += size)
    result.push_back(Configuration(summary.cells).subspan(at, size));
  return result;
}

// Returns how many sweeps, from the first on, have one value in the whole configuration.
std::size_t fixed_sweeps(Configuration cells) {
  const SweptValues& first = cells.front().swept;
  std::size_t count = 0;
  while (count < first.size() && std::ranges::all_of(cells, [&](const CellSummary& cell) {
           return cell.swept[count].second == first[count].second;
         }))
    ++count;
  return count;
}

// Returns the number with which a published value such as "0.4+" begins.
double number_of(const std::string& value) { return std::strtod(value.c_str(), nullptr); }

const DispatcherSummary* summary_of(const CellSummary& cell, const std::string& dispatcher) {
  const auto found = std::ranges::find(cell.dispatchers, dispatcher, &DispatcherSummary::dispatcher);
  return found == cell.dispatchers.end() ? nullptr : &*found;
}

// Returns the mean distance of our fractions from the published ones.
double distance_of(Configuration cells, const Published& published) {
  double sum = 0;
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (const DispatcherSummary* const ours = summary_of(cells[i], published.dispatcher))
      sum += std::abs(ours->missed_sets.value() - number_of(published.values[i]));
  return sum / static_cast<double>(cells.size());
}

std::string name_of_configuration(Configuration cells, std::size_t fields) {
  std::string name;
  for (std::size_t i = 0; i < fields; ++i)
    name += (i == 0 ? "" : ", ") + cells.front().swept[i].first + " = " + cells.front().swept[i].second;
  return name;
}

std::string nearest_note(const std::vector<Configuration>& configurations, std::size_t fields,
                         const std::vector<Published>& published, const std::string& baseline) {
  const Configuration* nearest = nullptr;
  const Published* beside = nullptr;
  double least = std::numeric_limits<double>::max();
  for (const Configuration& cells : configurations)
    for (const Published& other : published) {
      if (other.dispatcher == "mc-orb*" || other.dispatcher == "mc-orb") continue;
      double sum = distance_of(cells, other);
      for (const Published& own : published)
        if (own.dispatcher == "mc-orb*") sum += distance_of(cells, own);
      if (sum < least) least = sum, nearest = &cells, beside = &other;
    }
  if (nearest == nullptr) return "The baseline is " + baseline + ".";
  return "Nearest to the published rows, and so the fitted one: " + name_of_configuration(*nearest, fields) +
         ", with nORB as " + beside->dispatcher + " (sum of both distances " + fixed(least, 3) + ").";
}

std::string verdict_counts(Configuration cells, std::size_t difference) {
  const auto count = [&](Verdict verdict) {
    return std::to_string(std::ranges::count_if(
        cells, [&](const CellSummary& cell) { return cell.differences[difference].verdict == verdict; }));
  };
  return count(Verdict::better) + "/" + count(Verdict::worse);
}

}  // namespace

std::optional<Table> configuration_table(const ExperimentSummary& summary, const std::vector<Published>& published) {
  if (summary.cells.empty() || published.empty()) return std::nullopt;
  const std::size_t size = published.front().values.size();
  if (size == 0 || size >= summary.cells.size()) return std::nullopt;
  const std::vector<Configuration> configurations = configurations_of(summary, size);
  const std::size_t fields = fixed_sweeps(configurations.front());
  Table table{.title = counted(configurations.size(), "configuration") + " of " + counted(size, "cell") +
                       ": mean distance from the published fractions of sets with a missed deadline"};
  for (std::size_t i = 0; i < fields; ++i) table.columns.push_back(summary.cells.front().swept[i].first);
  for (const Published& row : published) table.columns.push_back(row.dispatcher);
  const auto& differences = summary.cells.front().differences;
  for (const Difference& difference : differences) table.columns.push_back(difference.dispatcher + " +/-");
  for (const Configuration& cells : configurations) {
    auto& row = table.rows.emplace_back();
    for (std::size_t i = 0; i < fields; ++i) row.push_back(cells.front().swept[i].second);
    for (const Published& theirs : published) row.push_back(fixed(distance_of(cells, theirs), 3));
    for (std::size_t i = 0; i < differences.size(); ++i) row.push_back(verdict_counts(cells, i));
  }
  table.notes = {nearest_note(configurations, fields, published, summary.baseline),
                 "+/-: in how many cells the dispatcher is better, and in how many it is worse than " +
                     summary.baseline + ", after Holm's adjustment over all combinations."};
  return table;
}

}  // namespace corelane::eval
