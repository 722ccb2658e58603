// Examples are sets of an experiment that are run again in virtual time, to show what happened in them.
// Threads: pure functions. They allocate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "orb/eval/dispatchers.h"
#include "orb/eval/report/chart.h"
#include "orb/eval/report/gantt.h"
#include "orb/eval/run_requests.h"
#include "orb/eval/scenario.h"

namespace corelane::eval {

// The results of the sets of one combination under one dispatcher.
struct Example {
  std::string dispatcher{};
  std::size_t sets = 0;
  std::vector<double> of_deadline{};  // each job's response as a part of its deadline
  std::vector<double> of_bound{};     // and of its task's bound, if there is one
  std::optional<Gantt> first_miss{};
  std::int64_t set_of_miss = 0;  // of first_miss, from 0
};

// Runs the first sets of the scenario, at most 20. Once `is_to_stop` returns true, it ends the current run, and returns
// what the runs before it gave. `is_to_stop` may be empty: then nothing stops the runs.
Example example_of(const Scenario& scenario, const Dispatcher& dispatcher, const RunDefaults& defaults,
                   const std::function<bool()>& is_to_stop);

// Returns the part of values that are greater than x, over x. The result has at most 200 points.
Curve exceedance(std::string name, std::vector<double> values, std::size_t style);

}  // namespace corelane::eval
