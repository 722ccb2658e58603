// SlowdownTable has a factor for each pair of tasks. The first task executes longer by this factor while the second one
// runs on another core of its last-level cache. The factors are those of the [[slowdown]] tables of a scenario. Other
// pairs of intensive tasks have the factor platform.slowdown. All factors are estimates, never bounds.
//
// Threads: values; pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orb/dispatch/worst_slowdowns.h"
#include "orb/eval/scenario.h"
#include "orb/eval/task_set.h"

namespace corelane::eval {

// The sentence that belongs beside figures of an analysis whose budgets include slowdowns. It has no full stop.
inline constexpr std::string_view charged_slowdowns_note =
    "budgets include slowdowns, which are estimates: bounds hold only as far as these do";

class SlowdownTable {
 public:
  static constexpr std::size_t no_name = SIZE_MAX;

  // What the table knows of a task.
  struct Row {
    // Indices of names_: the task's label, and its label without the number. no_name: no [[slowdown]] table has it.
    std::size_t own = no_name, general = no_name;
    bool is_intensive = false;
  };

  SlowdownTable() = default;
  // `uniform` is platform.slowdown.
  SlowdownTable(std::span<const PairSlowdown> pairs, Fraction uniform);

  // Returns whether no task slows another one down.
  bool is_empty() const noexcept { return names_.empty() && uniform_ == unity; }
  Row row_of(const Task& task) const;
  // Returns the factor in millionths. It is unity or more. If several [[slowdown]] tables are about the pair, one with
  // the labels of both tasks replaces one with a label without its number; then one with the label of `task` comes
  // first.
  std::int64_t factor(const Row& task, const Row& beside) const noexcept;

 private:
  std::size_t index_of(const std::string& name);

  std::vector<std::string> names_{};
  std::vector<std::int64_t> factors_{};  // names_ x names_, in millionths; 0: not given
  Fraction uniform_ = unity;
};

// Returns whether a [[slowdown]] table with this name is about a task with this label. That is so if the two are equal,
// or if the label is the name, "-" and a number.
bool is_named(std::string_view label, std::string_view name) noexcept;

using dispatch::slowed;

}  // namespace corelane::eval
