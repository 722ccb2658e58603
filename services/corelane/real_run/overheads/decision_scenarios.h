// The scenarios in which the manager's decisions are timed. Scenarios 1 to 5 are those of Zhang, Gill & Lu, RTCSA 2009.
// Each sample begins with the same state, which is constructed.
//
// Scenario 4 there: all running tasks are reallocated. Here all are placed anew, and two of the three have to move. On
// two equal cores, not all can change their cores to make room. The new task would then share a core with tasks beside
// which it had fitted before.
//
// Threads: see DecisionPool: call them on the driver.
#pragma once

#include <span>
#include <string_view>

#include "services/corelane/real_run/overheads/decision_pool.h"

namespace corelane::tool {

struct DecisionScenario {
  std::string_view name;   // as in a file: lower case, with dashes
  std::string_view title;  // for tables
  // Takes one sample. The pool has the tasks of earlier samples of the same scenario alone. Raises std::runtime_error
  // if the manager decides otherwise than the scenario needs.
  DecisionStamps (*sample)(DecisionPool& pool);
};

std::span<const DecisionScenario> decision_scenarios() noexcept;

}  // namespace corelane::tool
