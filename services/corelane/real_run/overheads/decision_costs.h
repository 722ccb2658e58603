// measure_decisions() takes samples of what the manager's decisions cost, scenario by scenario.
//
// Threads: starts a driver on the manager's core and waits for it. The driver stands for the reader, so it runs at the
// reader's priority if the system grants it.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "orb/base/ids.h"
#include "services/corelane/real_run/overheads/decision_scenarios.h"
#include "services/corelane/real_run/overheads/decision_stages.h"

namespace corelane::tool {

struct DecisionSampling {
  std::size_t samples = 1000;          // of each scenario
  std::vector<CoreId> cores{};         // two; the first one is the manager's
  std::string ledger{};                // the directory of the ledger; empty: promises are not written down
  std::function<bool()> is_to_stop{};  // is asked before each sample; empty: never
};

// Called after each scenario, on the driver.
using DecisionReport = std::function<void(const DecisionScenario& scenario, const DecisionStages& stages)>;

// Returns why it has ended early; "" if all was measured, or is_to_stop() has ended it. A scenario that was stopped is
// not reported.
std::string measure_decisions(std::span<const DecisionScenario* const> scenarios, const DecisionSampling& sampling,
                              const DecisionReport& report);

// Says where promises are written. A write to a file system on disk takes a fraction of a microsecond longer than one
// to memory, where /run is.
std::string ledger_text(const std::string& ledger);

}  // namespace corelane::tool
