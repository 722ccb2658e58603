// report_of() shows an experiment in one HTML page that needs no network and no script. The page has tables, the parts
// of the sets that were admitted and that missed deadlines, responses beside their bounds, and what the cores ran
// around the first misses. The figures are also files of their own.
//
// Threads: pure functions. They allocate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "orb/eval/dispatchers.h"
#include "orb/eval/report/table.h"
#include "orb/eval/results.h"
#include "orb/eval/run_requests.h"
#include "orb/eval/scenario.h"
#include "orb/eval/statistics/comparison.h"

namespace corelane::eval {

struct ReportInput {
  std::string title{};
  std::string heading{};  // a sentence that says what ran
  ResultsOrigin origin{};
  ExperimentSummary summary{};
  std::vector<Table> tables{};
  std::string note{};
  std::vector<const Dispatcher*> dispatchers{};
  RunDefaults defaults{};
  std::vector<Scenario> scenarios{};  // one for each cell of the summary
  // Returns the command that runs a set of a cell again. `set`: from 0. Empty, or returns "": the page shows none.
  std::function<std::string(std::size_t cell, std::int64_t set, const Dispatcher& dispatcher)> command_of{};
  // Whether to end the runs of examples. The report then shows what there is of them. Empty: nothing ends them.
  std::function<bool()> is_to_stop{};
};

// A figure as an SVG file.
struct Figure {
  std::string name{};  // letters, digits and dashes, such as "misses-1"
  std::string svg{};
};

struct Report {
  std::string html{};
  std::vector<Figure> figures{};  // those of the page
};

// In virtual time some sets are run again, to show what happened in them. Cost: 20 runs for each dispatcher.
Report report_of(const ReportInput& input);

}  // namespace corelane::eval
