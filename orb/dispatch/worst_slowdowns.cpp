#include "orb/dispatch/worst_slowdowns.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>

#include "orb/sched/ticks.h"

namespace corelane::dispatch {
namespace {

using FactorsBeside = std::map<std::string, std::int64_t, std::less<>>;  // by the label of the other task

// Finds the worst factor of a task. `own`: what the tables with its label say. `general`: what those with its label
// without the number say. Either may be null.
class WorstSearch {
 public:
  WorstSearch(const FactorsBeside* own, const FactorsBeside* general) : tables_{own, general} {}

  WorstSlowdowns::Worst result() const {
    WorstSlowdowns::Worst worst;
    for (const FactorsBeside* const table : tables_)
      if (table != nullptr)
        for (const auto& [name, factor] : *table) {
          worst = std::max(worst, {factor_beside(name, without_number(name)), name}, is_less);
          worst = std::max(worst, {factor_beside({}, name), name}, is_less);  // a task with this label and a number
        }
    return worst;
  }

 private:
  static bool is_less(const WorstSlowdowns::Worst& a, const WorstSlowdowns::Worst& b) {
    return a.beside.empty() ? !b.beside.empty() : a.factor < b.factor;
  }

  // Returns the factor beside a task with these labels: its own one, and that without its number.
  std::int64_t factor_beside(std::string_view own, std::string_view general) const {
    for (const FactorsBeside* const table : tables_)
      for (const std::string_view name : {own, general}) {
        if (table == nullptr || name.empty()) continue;
        if (const auto given = table->find(name); given != table->end()) return given->second;
      }
    return unity.millionths;
  }

  const FactorsBeside* tables_[2];
};

}  // namespace

WorstSlowdowns::WorstSlowdowns(const std::vector<Pair>& pairs) {
  std::map<std::string, FactorsBeside, std::less<>> tables;
  for (const Pair& pair : pairs) {
    std::int64_t& factor = tables[pair.operation][pair.beside];
    factor = std::max({factor, pair.factor, unity.millionths});
  }
  for (const auto& [operation, own] : tables) {
    const auto general = tables.find(without_number(operation));
    rows_.push_back({.operation = operation,
                     .as_label = WorstSearch(&own, general == tables.end() ? nullptr : &general->second).result(),
                     .as_general = WorstSearch(nullptr, &own).result()});
  }
}

const WorstSlowdowns::Worst& WorstSlowdowns::of(std::string_view label) const noexcept {
  if (const Row* const own = find(label)) return own->as_label;
  const Row* const general = find(without_number(label));
  return general != nullptr ? general->as_general : none_;
}

const WorstSlowdowns::Row* WorstSlowdowns::find(std::string_view operation) const noexcept {
  const auto row = std::ranges::lower_bound(rows_, operation, {},
                                            [](const Row& each) noexcept { return std::string_view(each.operation); });
  return row != rows_.end() && row->operation == operation ? &*row : nullptr;
}

std::string_view without_number(std::string_view label) noexcept {
  constexpr std::string_view digits = "0123456789";
  const std::size_t last = label.find_last_not_of(digits);
  const bool has_number = last != label.npos && label[last] == '-' && last + 1 < label.size();
  return has_number ? label.substr(0, last) : std::string_view{};
}

Duration slowed(Duration duration, std::int64_t factor) noexcept {
  constexpr sched::Wide whole = unity.millionths, most = std::numeric_limits<std::int64_t>::max() / 4;
  return Duration{
      static_cast<std::int64_t>(std::min((sched::Wide{duration.count()} * factor + whole - 1) / whole, most))};
}

Duration without_slowdown(Duration duration, std::int64_t factor) noexcept {
  return Duration{static_cast<std::int64_t>(sched::Wide{duration.count()} * unity.millionths / factor)};
}

}  // namespace corelane::dispatch
