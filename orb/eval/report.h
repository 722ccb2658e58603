// html_report() shows an experiment in one HTML page that needs no network and no script: tables, the parts that were
// admitted and that missed deadlines, responses beside their bounds, and what the cores ran around the first misses.
//
// Threads: pure functions. They allocate.
#pragma once

#include <string>
#include <vector>

#include "orb/eval/comparison.h"
#include "orb/eval/dispatchers.h"
#include "orb/eval/results.h"
#include "orb/eval/run_requests.h"
#include "orb/eval/scenario.h"
#include "orb/eval/table.h"

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
};

// In virtual time some sets are run again, to show what happened in them. Cost: 20 runs for each dispatcher.
std::string html_report(const ReportInput& input);

}  // namespace corelane::eval
