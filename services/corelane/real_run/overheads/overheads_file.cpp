#include "services/corelane/real_run/overheads/overheads_file.h"

#include <algorithm>
#include <span>
#include <utility>

#include "orb/core/text/spelling.h"
#include "orb/eval/scenario/node.h"
#include "orb/eval/scenario/node_reader.h"
#include "orb/eval/scenario/toml_nodes.h"

namespace corelane::tool {
namespace {

using eval::Node;
using eval::NodeFault;

constexpr std::int64_t most_samples = 1'000'000;
constexpr std::int64_t longest_cost = 1'000'000'000;  // us

const DecisionScenario* scenario_named(std::string_view name) {
  const auto scenarios = decision_scenarios();
  const auto found = std::ranges::find(scenarios, name, &DecisionScenario::name);
  return found == scenarios.end() ? nullptr : &*found;
}

std::vector<std::string> scenario_names() {
  std::vector<std::string> names;
  for (const DecisionScenario& scenario : decision_scenarios()) names.emplace_back(scenario.name);
  return names;
}

// OverheadsReader reads the tables of a file, and stops at the first fault.
class OverheadsReader {
 public:
  explicit OverheadsReader(const std::string& path) : nodes_(path) {}

  NodeFault read(const Node& root, OverheadsFile& file) const {
    if (NodeFault fault = nodes_.check_keys(root, "", {"name", "samples", "source", "overhead"})) return fault;
    if (NodeFault fault = nodes_.read_text(root, "name", file.name)) return fault;
    if (NodeFault fault = nodes_.read_text(root, "source", file.source)) return fault;
    if (const Node* const samples = root.find("samples"))
      if (NodeFault fault = read_whole(*samples, 1, most_samples, file.samples)) return fault;
    return nodes_.read_tables(root, "overhead", "a scenario", [&](const Node& row) { return read_row(row, file); });
  }

 private:
  NodeFault read_whole(const Node& value, std::int64_t least, std::int64_t most, std::int64_t& out) const {
    if (value.kind != Node::Kind::whole || value.whole < least || value.whole > most)
      return nodes_.fault_at(value, value.key + ": expected a whole number from " + std::to_string(least) + " to " +
                                        std::to_string(most) + "; found " + eval::shown(value));
    out = value.whole;
    return std::nullopt;
  }

  NodeFault read_row(const Node& table, OverheadsFile& file) const {
    if (NodeFault fault = nodes_.check_keys(table, "overhead", {"scenario", "published"})) return fault;
    std::string name;
    if (NodeFault fault = nodes_.read_text(table, "scenario", name)) return fault;
    const DecisionScenario* const scenario = scenario_named(name);
    if (scenario == nullptr)
      return nodes_.fault_at(table, "scenario: expected one of " + core::listed(scenario_names()) +
                                        (name.empty() ? "" : "; found \"" + name + "\""));
    OverheadsFile::Row row{.scenario = scenario};
    if (const Node* const published = table.find("published"))
      if (NodeFault fault = read_published(*published, row.published.emplace())) return fault;
    file.rows.push_back(row);
    return std::nullopt;
  }

  NodeFault read_published(const Node& table, PublishedCost& out) const {
    if (table.kind != Node::Kind::table)
      return nodes_.fault_at(table,
                             "published: expected { min = 1, mean = 2, max = 3 }, in us; found " + eval::shown(table));
    if (NodeFault fault = nodes_.check_keys(table, "published", {"min", "mean", "max"})) return fault;
    const std::pair<std::string_view, std::int64_t*> numbers[] = {
        {"min", &out.min}, {"mean", &out.mean}, {"max", &out.max}};
    for (const auto& [key, number] : numbers) {
      const Node* const value = table.find(key);
      if (value == nullptr) return nodes_.fault_at(table, "published: " + std::string(key) + " is missing");
      if (NodeFault fault = read_whole(*value, 0, longest_cost, *number)) return fault;
    }
    return std::nullopt;
  }

  const eval::NodeReader nodes_;
};

}  // namespace

bool is_overheads_file(std::string_view text) { return eval::has_top_level_key(text, "overhead"); }

Expected<OverheadsFile, eval::ScenarioFault> parse_overheads(std::string_view text, const std::string& path) {
  const auto root = eval::parse_toml(text, path);
  if (!root) return root.error();
  OverheadsFile file;
  if (NodeFault fault = OverheadsReader(path).read(*root, file)) return *fault;
  return file;
}

}  // namespace corelane::tool
