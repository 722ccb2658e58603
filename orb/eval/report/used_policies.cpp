#include "orb/eval/report/used_policies.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "orb/eval/server_options.h"
#include "orb/sched/admission_test.h"
#include "orb/sched/allocation_strategy.h"

namespace corelane::eval {
namespace {

constexpr std::string_view policy_prefix = "policy.";

std::string placement_of(const Dispatcher& dispatcher, const dispatch::ExecutiveOptions& server) {
  switch (dispatcher.placement) {
    case TaskPlacement::by_manager:
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

// Returns the cells of a row behind the dispatcher.
std::vector<std::string> policies_of(const Dispatcher& dispatcher, const Scenario& scenario,
                                     const RunDefaults& defaults) {
  dispatch::ExecutiveOptions server = defaults.server;
  apply(scenario.policy, server);
  server = server_under(dispatcher, server);
  return {placement_of(dispatcher, server), std::string(server.admission_test->name),
          scenario.policy.order.empty() ? "arrival" : scenario.policy.order};
}

// Adds the value to a list of different ones.
void add_value(const std::string& value, std::vector<std::string>& values) {
  if (std::ranges::find(values, value) == values.end()) values.push_back(value);
}

std::string joined(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value;
  return text;
}

}  // namespace

Table used_policies_table(std::span<const Scenario> scenarios, std::span<const Dispatcher* const> dispatchers,
                          const RunDefaults& defaults) {
  Table table{.title = "Policies", .columns = {"dispatcher", "allocation", "admission test", "order of tasks"}};
  for (const Dispatcher* const dispatcher : dispatchers) {
    std::vector<std::vector<std::string>> values(table.columns.size() - 1);
    for (const Scenario& scenario : scenarios) {
      const std::vector<std::string> cells = policies_of(*dispatcher, scenario, defaults);
      for (std::size_t i = 0; i < values.size(); ++i) add_value(cells[i], values[i]);
    }
    auto& row = table.rows.emplace_back(std::vector<std::string>{std::string(dispatcher->name)});
    for (const std::vector<std::string>& different : values) row.push_back(joined(different));
  }
  if (std::string note = note_of_slowdowns(scenarios, dispatchers, defaults); !note.empty())
    table.notes.push_back(std::move(note));
  return table;
}

std::string swept_policies(const SweptValues& swept) {
  std::string text;
  for (const auto& [field, value] : swept)
    if (is_policy(field)) text += (text.empty() ? "" : ", ") + field.substr(policy_prefix.size()) + " = " + value;
  return text;
}

std::string any_policies(const SweptValues& swept) {
  std::string text;
  for (const auto& [field, value] : swept)
    if (is_policy(field)) text += (text.empty() ? "any " : " and ") + field.substr(policy_prefix.size());
  return text;
}

bool is_policy(const std::string& field) { return field.starts_with(policy_prefix); }

std::string with_policies(const std::string& dispatcher, const std::string& policies) {
  return dispatcher + (policies.empty() ? "" : ", " + policies);
}

}  // namespace corelane::eval
