// OverheadTable has measured overheads in the format of SchedCAT (Brandenburg 2011): comma-separated values, with a
// line of names first. Times are microseconds. One column says what they depend on:
//
//   TASK-COUNT, RELEASE, SCHEDULE, CXS          by the number of tasks: scheduling
//            2,    1.30,     0.95, 0.52
//           10,    1.75,     1.02, 0.55
//
//   WSS,   L1,   L2,   L3,  MEM                 by the working set of a job in kB: cache-related delays,
//     4, 5.24, 5.37, 5.66, 5.77                 by the memory that the cores of before and after share
//
// Between two lines the values are interpolated; beyond the first or the last one, the nearest two lines are extended.
// As in SchedCAT, a value counts as at least that of the line before, and no result is negative.
//
// Threads: values. Allocates.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/sim/overheads.h"

namespace corelane::sim {

// What is wrong with a table: the line and the column, the fault, and what to change, in a sentence.
struct OverheadTableFault {
  std::string text;
};

class OverheadTable {
 public:
  // Reads the text of a file. The first column named TASK-COUNT or WSS is what the others depend on.
  static Expected<OverheadTable, OverheadTableFault> parse(std::string_view text);

  // Returns TASK-COUNT or WSS.
  const std::string& depends_on() const { return names_[argument_]; }
  std::span<const std::string> columns() const { return names_; }
  bool has(std::string_view column) const;
  // Returns the value at this number of tasks or size, rounded up to nanoseconds; zero if there is no such column.
  Duration at(std::string_view column, double argument) const;

 private:
  // Take a line of the file. They return what is wrong with it.
  std::optional<OverheadTableFault> take_names(std::string_view row, std::size_t line);
  std::optional<OverheadTableFault> take_values(std::string_view row, std::size_t line);

  std::vector<std::string> names_;
  std::vector<std::vector<double>> values_;  // of each column, from the second line on
  std::size_t argument_ = 0;                 // the column TASK-COUNT or WSS
};

// Returns the constant overheads for so many tasks. The table depends on TASK-COUNT.
//   release   RELEASE
//   dispatch  SCHEDULE + CXS, the decision and the context switch
//   hop       IPI-LATENCY, the interrupt that makes another core dispatch the job
// Other columns are not used; see unused_columns().
Overheads overheads_of(const OverheadTable& table, std::size_t tasks);

// Sets the cache-related delays for a working set of so many kB. The table depends on WSS.
//   preemption  L1, or the next column of L2, L3 and MEM if there is none: the job continues on its core
//   migration   the longest of L1, L2, L3 and MEM
void set_cache_delays(Overheads& overheads, const OverheadTable& table, double working_set);

// Returns the columns that neither of the two uses, such as TICK and LOCK.
std::vector<std::string> unused_columns(const OverheadTable& table);

}  // namespace corelane::sim
