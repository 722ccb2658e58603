#include "services/corelane/real_run/overheads/overheads_file.h"

#include <algorithm>
#include <span>
#include <utility>

#include "orb/core/config/spelling.h"
#include "orb/eval/scenario/node.h"
#include "orb/eval/scenario/toml_nodes.h"

namespace corelane::tool {
namespace {

using eval::Node;
using Bad = std::optional<eval::ScenarioFault>;

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
  explicit OverheadsReader(const std::string& path) : path_(path) {}

  Bad read(const Node& root, OverheadsFile& file) const {
    if (Bad bad = check_keys(root, {"name", "samples", "source", "overhead"})) return bad;
    if (Bad bad = read_text(root, "name", file.name)) return bad;
    if (Bad bad = read_text(root, "source", file.source)) return bad;
    if (const Node* const samples = root.find("samples"))
      if (Bad bad = read_whole(*samples, 1, most_samples, file.samples)) return bad;
    const Node* const list = root.find("overhead");
    if (list == nullptr || list->kind != Node::Kind::list || list->children.empty())
      return fault(list == nullptr ? root : *list, "expected tables [[overhead]], each with a scenario");
    for (const Node& row : list->children)
      if (Bad bad = read_row(row, file)) return bad;
    return std::nullopt;
  }

 private:
  using Keys = std::vector<std::string>;

  Bad fault(const Node& node, const std::string& text) const {
    return eval::ScenarioFault{core::text_of(path_, node.at) + text};
  }

  Bad check_keys(const Node& table, const Keys& known) const {
    for (const Node& child : table.children)
      if (std::ranges::find(known, child.key) == known.end()) {
        const std::string best = core::meant(child.key, known, "the nearest is");
        return eval::ScenarioFault{core::text_of(path_, child.key_at) + "there is no " + child.key +
                                   (best.empty() ? "; there are " + core::listed(known) : best)};
      }
    return std::nullopt;
  }

  Bad read_text(const Node& table, std::string_view key, std::string& out) const {
    const Node* const value = table.find(key);
    if (value == nullptr) return std::nullopt;
    if (value->kind != Node::Kind::text)
      return fault(*value, std::string(key) + ": expected a text; found " + eval::shown(*value));
    out = value->text;
    return std::nullopt;
  }

  Bad read_whole(const Node& value, std::int64_t least, std::int64_t most, std::int64_t& out) const {
    if (value.kind != Node::Kind::whole || value.whole < least || value.whole > most)
      return fault(value, value.key + ": expected a whole number from " + std::to_string(least) + " to " +
                              std::to_string(most) + "; found " + eval::shown(value));
    out = value.whole;
    return std::nullopt;
  }

  Bad read_row(const Node& table, OverheadsFile& file) const {
    if (table.kind != Node::Kind::table) return fault(table, "expected a table; found " + eval::shown(table));
    if (Bad bad = check_keys(table, {"scenario", "published"})) return bad;
    std::string name;
    if (Bad bad = read_text(table, "scenario", name)) return bad;
    const DecisionScenario* const scenario = scenario_named(name);
    if (scenario == nullptr)
      return fault(table, "scenario: expected one of " + core::listed(scenario_names()) +
                              (name.empty() ? "" : "; found \"" + name + "\""));
    OverheadsFile::Row row{.scenario = scenario};
    if (const Node* const published = table.find("published"))
      if (Bad bad = read_published(*published, row.published.emplace())) return bad;
    file.rows.push_back(row);
    return std::nullopt;
  }

  Bad read_published(const Node& table, PublishedCost& out) const {
    if (table.kind != Node::Kind::table)
      return fault(table, "published: expected { min = 1, mean = 2, max = 3 }, in us; found " + eval::shown(table));
    if (Bad bad = check_keys(table, {"min", "mean", "max"})) return bad;
    const std::pair<std::string_view, std::int64_t*> numbers[] = {
        {"min", &out.min}, {"mean", &out.mean}, {"max", &out.max}};
    for (const auto& [key, number] : numbers) {
      const Node* const value = table.find(key);
      if (value == nullptr) return fault(table, "published: " + std::string(key) + " is missing");
      if (Bad bad = read_whole(*value, 0, longest_cost, *number)) return bad;
    }
    return std::nullopt;
  }

  const std::string& path_;
};

}  // namespace

bool is_overheads_file(std::string_view text) {
  const auto root = eval::parse_toml(text, "");
  return root && root->find("overhead") != nullptr;
}

Expected<OverheadsFile, eval::ScenarioFault> parse_overheads(std::string_view text, const std::string& path) {
  const auto root = eval::parse_toml(text, path);
  if (!root) return root.error();
  OverheadsFile file;
  if (Bad bad = OverheadsReader(path).read(*root, file)) return *bad;
  return file;
}

}  // namespace corelane::tool
