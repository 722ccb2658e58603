// WorstSlowdowns has the largest factor by which each operation of a file of slowdowns executes longer beside another
// task on another core of its cache. The factors are estimates, never bounds.
//
// Threads: constant after construction. Only the constructor allocates.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/fraction.h"
#include "orb/base/time.h"

namespace corelane::dispatch {

class WorstSlowdowns {
 public:
  // What a table [[slowdown]] says.
  struct Pair {
    std::string operation{};
    std::string beside{};
    std::int64_t factor = unity.millionths;  // in millionths; less than unity counts as unity
  };
  struct Worst {
    std::int64_t factor = unity.millionths;  // in millionths; unity or more
    std::string beside{};                    // the other task; "": no table is about the task
  };

  // If several tables have the same names, the largest factor counts. A label may have a number behind it: "vision-3".
  // A table with the labels of both tasks replaces one with a label without its number. Then one with the label of the
  // slower task comes first.
  explicit WorstSlowdowns(const std::vector<Pair>& pairs);

  // Returns the largest factor of a task with this label, whatever other task runs beside it. Cost: two binary
  // searches.
  const Worst& of(std::string_view label) const noexcept;

 private:
  struct Row {
    std::string operation;
    Worst as_label;    // of a task that has this label
    Worst as_general;  // of a task that has this label and a number, and no row of its own
  };
  const Row* find(std::string_view operation) const noexcept;

  std::vector<Row> rows_{};  // by operation
  Worst none_{};
};

// Returns the label without the "-" and the number at its end; "" if it has none.
std::string_view without_number(std::string_view label) noexcept;

// Returns the duration times the factor, which is in millionths, rounded up. Longer than 73 years is cut to that.
Duration slowed(Duration duration, std::int64_t factor) noexcept;
// Returns the longest duration d for which slowed(d, factor) is at most the given one.
Duration without_slowdown(Duration duration, std::int64_t factor) noexcept;

}  // namespace corelane::dispatch
