#include "orb/eval/scenario/reader.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "orb/core/text/spelling.h"
#include "orb/eval/scenario/checks.h"
#include "orb/eval/scenario/experiment_tables.h"
#include "orb/eval/scenario/field_tables.h"
#include "orb/eval/scenario/node_reader.h"

namespace corelane::eval {
namespace {

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

// Reader reads one file, until its first fault.
class Reader {
 public:
  explicit Reader(const std::string& path) : nodes_(path) {}

  NodeFault read(const Node& root, Scenario& scenario) {
    for (const Node& child : root.children)
      if (NodeFault bad = read_top(child, scenario)) return bad;
    return check(root, scenario);
  }

  NodeFault read(const Node& root, std::vector<SweptField>& sweeps) {
    const Node* const list = root.find("sweep");
    if (list == nullptr) return std::nullopt;
    if (NodeFault bad = expect_list(*list)) return bad;
    for (const Node& item : list->children) {
      Sweep sweep;
      if (NodeFault bad = read_fields(item, "sweep", sweep_fields(), sweep)) return bad;
      auto values = values_of(sweep);
      if (!values) return fault(item.at, "the sweep of " + sweep.field + ": " + values.error().text);
      sweeps.push_back({sweep.field, *std::move(values)});
    }
    return std::nullopt;
  }

 private:
  ScenarioFault fault(core::FilePlace place, const std::string& text) const { return nodes_.fault_at(place, text); }

  NodeFault read_top(const Node& child, Scenario& scenario) {
    if (child.key == "sweep") return std::nullopt;     // see read_sweeps()
    if (child.key == "slowdown") return std::nullopt;  // see core::parse_slowdowns()
    if (child.key == "platform") return read_table(child, platform_fields(), scenario.platform);
    if (child.key == "policy") return read_table(child, policy_fields(), scenario.policy);
    if (child.key == "overheads") return read_table(child, overhead_fields(), scenario.overheads);
    if (child.key == "generate") return read_table(child, generator_fields(), scenario.generate.emplace());
    if (child.key == "experiment") return read_table(child, experiment_fields(), scenario.experiment);
    if (child.key == "published") return read_list(child, published_fields(), scenario.published);
    if (child.key == "chain") return read_list(child, chain_fields(), scenario.chains);
    if (child.key == "task") return read_list(child, task_fields(), scenario.tasks);
    return read_field(child, "", top_fields(), scenario);
  }

  template <typename Table>
  NodeFault read_list(const Node& list, std::span<const Field<Table>> fields, std::vector<Table>& items) {
    if (NodeFault bad = expect_list(list)) return bad;
    for (const Node& item : list.children)
      if (NodeFault bad = read_fields(item, list.key, fields, items.emplace_back())) return bad;
    return std::nullopt;
  }

  NodeFault expect_list(const Node& node) const {
    const bool is_list = node.kind == Node::Kind::list &&
                         std::ranges::all_of(node.children, [](const Node& c) { return c.kind == Node::Kind::table; });
    if (is_list) return std::nullopt;
    return fault(node.key_at, node.key + " is a list of tables; write [[" + node.key + "]] above the fields of each");
  }

  template <typename Table>
  NodeFault read_table(const Node& node, std::span<const Field<Table>> fields, Table& out) {
    if (node.kind != Node::Kind::table)
      return fault(node.key_at, node.key + " is one table; write [" + node.key + "] above its fields");
    return read_fields(node, node.key, fields, out);
  }

  template <typename Table>
  NodeFault read_fields(const Node& node, const std::string& name, std::span<const Field<Table>> fields, Table& out) {
    for (const Node& child : node.children)
      if (NodeFault bad = read_field(child, name, fields, out)) return bad;
    for (const Field<Table>& field : fields)
      if (field.info.is_required && node.find(field.info.key) == nullptr)
        return fault(node.at, name + " has no " + std::string(field.info.key) + "; add " + std::string(field.info.key) +
                                  " = " + std::string(field.info.example));
    return std::nullopt;
  }

  template <typename Table>
  NodeFault read_field(const Node& child, const std::string& table, std::span<const Field<Table>> fields, Table& out) {
    const auto field = std::ranges::find(fields, std::string_view(child.key),
                                         [](const Field<Table>& known) { return known.info.key; });
    if (field == fields.end()) {
      if (!table.empty() && is_top_field(child.key))
        return fault(child.key_at, "there is no " + table + "." + child.key + ": " + child.key +
                                       " belongs at the top of the file, above the first table; " + table + " has " +
                                       core::listed(keys_of(table, fields)));
      return nodes_.unknown_key(child, table, keys_of(table, fields));
    }
    const auto wrong = store(child, *field, out);
    if (!wrong) return std::nullopt;
    const Node& found = wrong->element == nullptr ? child : *wrong->element;
    return fault(found.at, table + (table.empty() ? "" : ".") + child.key + ": expected " + wrong->expected +
                               "; found " + shown(found));
  }

  static bool is_top_field(const std::string& key) {
    return std::ranges::any_of(top_fields(), [&](const Field<Scenario>& known) { return known.info.key == key; });
  }

  // Returns what a table may have. At the top of a file ("") it may also have tables.
  template <typename Table>
  static std::vector<std::string> keys_of(const std::string& table, std::span<const Field<Table>> fields) {
    std::vector<std::string> keys;
    for (const Field<Table>& field : fields) keys.emplace_back(field.info.key);
    if (table.empty())
      keys.insert(keys.end(), {"platform", "policy", "task", "chain", "slowdown", "generate", "overheads", "experiment",
                               "published", "sweep"});
    return keys;
  }

  NodeFault check(const Node& root, const Scenario& scenario) const {
    if (NodeFault bad = check_tasks(root, scenario)) return bad;
    if (scenario.tasks.empty() && !scenario.generate)
      return fault({.line = 1},
                   "there is no task; add [[task]] with period and budget, or [generate] with tasks and utilization");
    if (scenario.experiment.length <= Duration::zero())
      return fault(place_of(root, "experiment", "length"), "experiment.length: expected a duration above 0; found 0ns");
    if (NodeFault bad = check_chains(root, scenario)) return bad;
    if (NodeFault bad = check_slowdowns(scenario)) return bad;
    if (const auto bad = fault_of_charged_slowdowns(scenario))
      return fault(place_of(root, "policy", "charge_slowdowns"), "policy.charge_slowdowns" + *bad);
    if (const auto bad = fault_of_dispatcher(scenario))
      return fault(place_of(root, "policy", "dispatcher"), "policy.dispatcher = " + *bad);
    if (const auto bad = fault_of_locks(scenario))
      return fault(place_of(root, "policy", "locks"), "policy.locks: " + *bad);
    if (const auto bad = fault_of_overheads(scenario.overheads))
      return fault(place_of(root, "overheads", bad->key), "overheads." + bad->key + bad->text);
    const Platform& platform = scenario.platform;
    if (platform.period && *platform.period <= Duration::zero())
      return fault(place_of(root, "platform", "period"), "platform.period: expected a duration above 0; found 0ns");
    if (platform.budget && platform.period && *platform.budget > *platform.period)
      return fault(place_of(root, "platform", "budget"),
                   "platform.budget = " + to_string(*platform.budget) + " is more than platform.period = " +
                       to_string(*platform.period) + ", so no core has room for tasks; lower the budget");
    if (!scenario.generate) return std::nullopt;
    const auto bad = fault_of_generator(*scenario.generate);
    return bad ? NodeFault(fault(place_of(root, "generate", bad->key), "generate." + bad->key + bad->text))
               : std::nullopt;
  }

  NodeFault check_tasks(const Node& root, const Scenario& scenario) const {
    std::map<std::string, core::FilePlace> labels;
    std::int64_t count = 0;
    for (std::size_t i = 0; i < scenario.tasks.size(); ++i) {
      const Node& node = root.find("task")->children[i];
      const std::string label = label_of(node, "task", i);
      const auto [other, is_new] = labels.emplace(label, node.at);
      if (!is_new)
        return fault(node.at, "a second task has the label " + quoted(label) + " of the one in line " +
                                  std::to_string(other->second.line) + "; give it another label");
      if (const auto bad = fault_of_task(scenario.tasks[i]))
        return fault(node.at, "task " + quoted(label) + ": " + *bad);
      count += scenario.tasks[i].count;
    }
    if (count <= most_tasks) return std::nullopt;
    return fault(root.find("task")->at, std::to_string(count) + " tasks are too many; the most is " +
                                            std::to_string(most_tasks) + "; lower their counts");
  }

  NodeFault check_chains(const Node& root, const Scenario& scenario) const {
    const Node* const list = root.find("chain");
    for (std::size_t i = 0; i < scenario.chains.size(); ++i) {
      const Node& node = list->children[i];
      if (const auto bad = fault_of_chain(scenario, i))
        return fault(node.at, "chain " + quoted(label_of(node, "chain", i)) + ": " + *bad);
    }
    return std::nullopt;
  }

  NodeFault check_slowdowns(const Scenario& scenario) const {
    for (std::size_t i = 0; i < scenario.slowdowns.size(); ++i)
      if (const auto bad = fault_of_slowdown(scenario, i))
        return fault(scenario.slowdowns[i].at, "slowdown." + bad->key + bad->text);
    return std::nullopt;
  }

  static core::FilePlace place_of(const Node& root, std::string_view table, std::string_view key) {
    const Node* const node = root.find(table);
    const Node* const field = node == nullptr ? nullptr : node->find(key);
    return field != nullptr ? field->at : node != nullptr ? node->at : core::FilePlace{.line = 1};
  }

  const NodeReader nodes_;
};

}  // namespace

Expected<Scenario, ScenarioFault> read_scenario(const Node& root, const std::string& path,
                                                std::vector<PairSlowdown> slowdowns) {
  Scenario scenario{.slowdowns = std::move(slowdowns)};
  if (auto bad = Reader(path).read(root, scenario)) return *std::move(bad);
  return scenario;
}

Expected<std::vector<SweptField>, ScenarioFault> read_sweeps(const Node& root, const std::string& path) {
  std::vector<SweptField> sweeps;
  if (auto bad = Reader(path).read(root, sweeps)) return *std::move(bad);
  return sweeps;
}

}  // namespace corelane::eval
