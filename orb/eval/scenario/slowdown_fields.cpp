// The table [[slowdown]] of a scenario file, for the documentation, the schema, and for writing it.
// orb/core/contracts/slowdowns.cpp reads it, because servers and `corelane measure` have files with such tables, too.
#include <cstdint>

#include "orb/eval/scenario/field_tables.h"

namespace corelane::eval {
namespace {

constexpr std::int64_t most_metric = 1'000'000 * unity.millionths;

constexpr Field<PairSlowdown> slowdown_rows[] = {
    {{.key = "operation",
      .help =
          "The label of the task that executes longer. Without the number that count adds, it means all these tasks",
      .example = "\"vision\"",
      .is_required = true},
     &PairSlowdown::operation},
    {{.key = "beside",
      .help = "The label of the task that runs on another core of its cache meanwhile",
      .example = "\"control\"",
      .is_required = true},
     &PairSlowdown::beside},
    {{.key = "factor",
      .help = "By which factor it executes longer. Less than 1 counts as 1. If two tables have the same names, the "
              "larger factor counts. A table with the number of a task replaces one without it for the same pair",
      .fallback = "1",
      .example = "1.3",
      .least = 1,
      .most = most_slowdown.millionths,
      .rounds_up = true},
     &PairSlowdown::factor},
    {{.key = "samples",
      .help = "From corelane measure, and not used in plans, like all fields below: the jobs of the shorter series",
      .fallback = "0",
      .example = "200"},
     &PairSlowdown::samples},
    {{.key = "low",
      .help = "The lower end of the 95 % confidence interval of the factor",
      .fallback = "none",
      .example = "1.28",
      .most = most_slowdown.millionths},
     &PairSlowdown::low},
    {{.key = "high",
      .help = "Its upper end",
      .fallback = "none",
      .example = "1.33",
      .most = most_slowdown.millionths,
      .rounds_up = true},
     &PairSlowdown::high},
    {{.key = "alone",
      .help = "The median execution time without the other task",
      .fallback = "none",
      .example = "\"2ms\""},
     &PairSlowdown::alone},
    {{.key = "together", .help = "The median beside it", .fallback = "none", .example = "\"2600us\""},
     &PairSlowdown::together},
    {{.key = "accesses",
      .help = "Accesses to the last-level cache per 1,000 instructions of the operation, beside the other task",
      .fallback = "none",
      .example = "25.5",
      .most = most_metric},
     &PairSlowdown::accesses},
    {{.key = "misses",
      .help = "Of these, those that missed",
      .fallback = "none",
      .example = "3.2",
      .most = most_metric},
     &PairSlowdown::misses},
    {{.key = "stalls",
      .help = "Cycles per 1,000 instructions in which the processor waited",
      .fallback = "none",
      .example = "410",
      .most = most_metric},
     &PairSlowdown::stalls},
};

}  // namespace

std::span<const Field<PairSlowdown>> slowdown_fields() noexcept { return slowdown_rows; }

}  // namespace corelane::eval
