#include "orb/eval/slowdown_table.h"

#include <algorithm>

#include "orb/base/contract.h"

namespace corelane::eval {

SlowdownTable::SlowdownTable(std::span<const PairSlowdown> pairs, Fraction uniform) : uniform_(uniform) {
  for (const PairSlowdown& pair : pairs) index_of(pair.operation), index_of(pair.beside);
  factors_.resize(names_.size() * names_.size());
  for (const PairSlowdown& pair : pairs) {
    std::int64_t& factor = factors_[index_of(pair.operation) * names_.size() + index_of(pair.beside)];
    factor = std::max({factor, pair.factor.millionths, unity.millionths});
  }
}

// Adds the name if it is new.
std::size_t SlowdownTable::index_of(const std::string& name) {
  const auto found = std::ranges::find(names_, name);
  const auto index = static_cast<std::size_t>(found - names_.begin());
  if (found == names_.end()) names_.push_back(name);
  return index;
}

SlowdownTable::Row SlowdownTable::row_of(const Task& task) const {
  Row row{.is_intensive = is_intensive(task.contract)};
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (names_[i] == task.label)
      row.own = i;
    else if (is_named(task.label, names_[i]))
      row.general = i;
  }
  return row;
}

std::int64_t SlowdownTable::factor(const Row& task, const Row& beside) const noexcept {
  for (const std::size_t name : {task.own, task.general})
    for (const std::size_t other : {beside.own, beside.general}) {
      if (name == no_name || other == no_name) continue;
      if (const std::int64_t given = factors_[name * names_.size() + other]; given != 0) return given;
    }
  return task.is_intensive && beside.is_intensive ? uniform_.millionths : unity.millionths;
}

bool is_named(std::string_view label, std::string_view name) noexcept {
  return label == name || (!name.empty() && dispatch::without_number(label) == name);
}

}  // namespace corelane::eval
