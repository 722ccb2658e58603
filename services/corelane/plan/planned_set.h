// PlannedSet is one set of tasks with what a server would answer.
// Threads: values; the functions are pure and allocate.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "orb/eval/plan.h"
#include "orb/eval/run_overheads.h"
#include "services/corelane/output/format.h"

namespace corelane::tool {

struct PlannedSet {
  std::vector<std::pair<std::string, std::string>> swept{};  // fields with their values
  int set = 0;                                               // from 1; 0: it is the only one
  dispatch::ExecutiveOptions server{};
  eval::RunOverheads overheads{};  // if they are charged, the budgets and the platform's blocking include them
  eval::Plan plan{};
};

// Returns one set in full. Of several sets, returns a line for all with the same swept values; as JSON, all of each.
std::string text_of(const std::vector<PlannedSet>& sets, Format format);

}  // namespace corelane::tool
