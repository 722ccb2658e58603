#include "orb/eval/report/used_policies.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "orb/eval/policy_names.h"

namespace corelane::eval {
namespace {

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
      const PolicyNames names = policy_names(*dispatcher, scenario, defaults);
      add_value(names.allocation, values[0]);
      add_value(names.test, values[1]);
      add_value(names.order, values[2]);
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

std::string with_policies(const std::string& dispatcher, const std::string& policies) {
  return dispatcher + (policies.empty() ? "" : ", " + policies);
}

}  // namespace corelane::eval
