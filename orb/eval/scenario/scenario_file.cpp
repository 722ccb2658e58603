#include "orb/eval/scenario_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "orb/core/contracts/slowdowns.h"
#include "orb/core/text/toml_text.h"
#include "orb/eval/measured_overheads.h"
#include "orb/eval/scenario/checks.h"
#include "orb/eval/scenario/node.h"
#include "orb/eval/scenario/reader.h"
#include "orb/eval/scenario/sweep.h"
#include "orb/eval/scenario/toml_nodes.h"

namespace corelane::eval {
namespace {

// A value as a report shows it: without quotes.
std::string value_text(const Node& value) { return value.kind == Node::Kind::text ? value.text : shown(value); }

// Returns the number of combinations; nothing if there are more than most_values.
std::optional<std::size_t> combinations_of(const std::vector<SweptField>& sweeps) {
  std::size_t count = 1;
  for (const SweptField& sweep : sweeps)
    if ((count *= sweep.values.size()) > most_values) return std::nullopt;
  return count;
}

// Reads what the fields overheads.from of a file name, each source once.
class OverheadSources {
 public:
  explicit OverheadSources(const std::string& path) : path_(path) {}

  // Fills in what the scenario's source has. Returns what is wrong with it; "": nothing.
  std::string fill(Scenario& scenario) {
    OverheadFields& overheads = scenario.overheads;
    if (overheads.from.empty()) return {};
    auto known = known_.find(overheads.from);
    if (known == known_.end()) {
      auto measured = read_overheads(name_of(overheads.from));
      if (!measured) return "overheads.from: " + measured.error().text;
      known = known_.emplace(overheads.from, *std::move(measured)).first;
    }
    overheads.measured = known->second;
    if (!known->second.note.empty()) scenario.notes.push_back(known->second.note);
    return {};
  }

 private:
  std::string name_of(const std::string& from) const {
    return from == own_card ? from : (std::filesystem::path(path_).parent_path() / from).string();
  }

  const std::string& path_;
  std::map<std::string, MeasuredOverheads> known_{};
};

// Reads the combination with this number. The last sweep is the digit that changes fastest.
Expected<Cell, ScenarioFault> read_cell(const Node& root, const std::vector<SweptField>& sweeps, std::size_t number,
                                        const std::string& path, const std::vector<PairSlowdown>& slowdowns,
                                        OverheadSources& sources) {
  Node table = root;
  Cell cell;
  std::string where;
  for (std::size_t i = sweeps.size(); i > 0; --i) {
    const auto& [field, values] = sweeps[i - 1];
    const Node& value = values[number % values.size()];
    number /= values.size();
    if (const std::string bad = set_field(table, field, value); !bad.empty())
      return ScenarioFault{core::text_of(path, value.at) + "the sweep of " + field + ": " + bad};
    cell.swept.insert(cell.swept.begin(), {field, value_text(value)});
  }
  auto scenario = read_scenario(table, path, slowdowns);
  for (const auto& [field, value] : cell.swept) where += (where.empty() ? "; swept: " : ", ") + field + " = " + value;
  if (!scenario) return ScenarioFault{scenario.error().text + where};
  cell.scenario = *std::move(scenario);
  if (const std::string bad = sources.fill(cell.scenario); !bad.empty())
    return ScenarioFault{path + ": " + bad + where};
  return cell;
}

// Returns the one combination of a file of another format.
Expected<std::vector<Cell>, ScenarioFault> read_other(const ScenarioFormat& format, std::string_view text,
                                                      const std::string& path, const FormatOptions& options) {
  auto scenario = format.read(text, path, options);
  if (!scenario) return scenario.error();
  std::set<std::string> labels;
  std::int64_t tasks = 0;
  for (const ListedTask& task : scenario->tasks) {
    if (!labels.insert(task.label).second)
      return ScenarioFault{path + ": two tasks are called \"" + task.label + "\"; give one of them another name"};
    tasks += task.count;
  }
  if (tasks > most_tasks)
    return ScenarioFault{path + ": " + std::to_string(tasks) + " tasks are too many; the most is " +
                         std::to_string(most_tasks)};
  return std::vector<Cell>{{.swept = {}, .scenario = *std::move(scenario)}};
}

}  // namespace

Expected<std::vector<Cell>, ScenarioFault> parse_scenario(std::string_view text, const std::string& path,
                                                          const FormatOptions& options) {
  if (const ScenarioFormat& format = format_of_text(text); format.read != nullptr)
    return read_other(format, text, path, options);
  const auto root = parse_toml(text, path);
  if (!root) return root.error();
  const auto slowdowns = core::parse_slowdowns(text, path);
  if (!slowdowns) return ScenarioFault{slowdowns.error().text};
  const auto sweeps = read_sweeps(*root, path);
  if (!sweeps) return sweeps.error();
  const auto count = combinations_of(*sweeps);
  if (!count)
    return ScenarioFault{core::text_of(path, root->find("sweep")->at) + "the sweeps have more than " +
                         std::to_string(most_values) + " combinations; give them fewer values"};
  std::vector<Cell> cells;
  OverheadSources sources(path);
  for (std::size_t i = 0; i < *count; ++i) {
    auto cell = read_cell(*root, *sweeps, i, path, *slowdowns, sources);
    if (!cell) return cell.error();
    cells.push_back(*std::move(cell));
  }
  return cells;
}

bool has_tasks(std::string_view text) {
  const auto root = parse_toml(text, "");
  return root && (root->find("task") != nullptr || root->find("generate") != nullptr);
}

bool is_contracts_file(std::string_view text) {
  if (format_of_text(text).read != nullptr) return false;
  const auto root = parse_toml(text, "");
  return root && std::ranges::any_of(root->children, [](const Node& child) {
           return child.key.find(':') != child.key.npos && child.key.find("::") == child.key.npos;
         });
}

}  // namespace corelane::eval
