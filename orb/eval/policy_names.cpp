#include "orb/eval/policy_names.h"

#include "orb/eval/server_options.h"
#include "orb/sched/admission_test.h"
#include "orb/sched/allocation_strategy.h"

namespace corelane::eval {
namespace {

std::string placement_of(const Dispatcher& dispatcher, const dispatch::ExecutiveOptions& server) {
  switch (dispatcher.placement) {
    case TaskPlacement::by_manager:
      return std::string(server.allocation->name) + (dispatcher.refuses && !server.repack ? " without repacking" : "");
    case TaskPlacement::allocated:
      return std::string(server.allocation->name);
    case TaskPlacement::any_core:
      return "any core";
    case TaskPlacement::round_robin:
      return "each core in turn";
    case TaskPlacement::first_core:
      return "the first core";
  }
  return {};
}

}  // namespace

PolicyNames policy_names(const Dispatcher& dispatcher, const Scenario& scenario, const RunDefaults& defaults) {
  dispatch::ExecutiveOptions server = defaults.server;
  apply(scenario.policy, server);
  server = server_under(dispatcher, server);
  return {.allocation = placement_of(dispatcher, server),
          .test = std::string(server.admission_test->name),
          .order = scenario.policy.order.empty() ? "arrival" : scenario.policy.order};
}

}  // namespace corelane::eval
