// The names of the policies with which a dispatcher runs a scenario.
// Threads: pure functions. They allocate.
#pragma once

#include <string>

#include "orb/eval/dispatchers.h"
#include "orb/eval/run_requests.h"
#include "orb/eval/scenario.h"

namespace corelane::eval {

struct PolicyNames {
  std::string allocation{};  // how the dispatcher places tasks, such as "worst-fit" or "any core"
  std::string test{};        // by which test it admits them; "none" if it refuses no task
  std::string order{};       // in which order they ask

  friend bool operator==(const PolicyNames&, const PolicyNames&) = default;
};

// What the scenario leaves out is as in `defaults`.
PolicyNames policy_names(const Dispatcher& dispatcher, const Scenario& scenario, const RunDefaults& defaults);

}  // namespace corelane::eval
