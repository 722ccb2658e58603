#include "orb/eval/scenario_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <ranges>
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

// CellReader reads the combinations of a file.
class CellReader {
 public:
  CellReader(const Node& root, const std::vector<SweptField>& sweeps, const std::string& path,
             const std::vector<PairSlowdown>& slowdowns)
      : root_(root), sweeps_(sweeps), path_(path), slowdowns_(slowdowns), sources_(path) {}

  // Reads the combination with this number.
  Expected<Cell, ScenarioFault> read(std::size_t number) {
    const std::vector<Choice> choices = choices_of(number);
    const auto table = table_of(choices);
    if (!table) return table.error();
    auto scenario = read_scenario(*table, path_, slowdowns_);
    if (!scenario) return ScenarioFault{scenario.error().text + causes_of(scenario.error(), choices)};
    Cell cell{.swept = {}, .scenario = *std::move(scenario)};
    for (const Choice& choice : choices) cell.swept.emplace_back(choice.field, value_text(*choice.value));
    if (const std::string bad = sources_.fill(cell.scenario); !bad.empty()) return ScenarioFault{path_ + ": " + bad};
    return cell;
  }

 private:
  // A swept field, and its value in a combination.
  struct Choice {
    std::string field;
    const Node* value;
  };

  // The last sweep is the digit that changes fastest.
  std::vector<Choice> choices_of(std::size_t number) const {
    std::vector<Choice> choices(sweeps_.size());
    for (std::size_t i = sweeps_.size(); i > 0; --i) {
      const auto& [field, values] = sweeps_[i - 1];
      choices[i - 1] = {field, &values[number % values.size()]};
      number /= values.size();
    }
    return choices;
  }

  // Returns the table of the file with these choices.
  Expected<Node, ScenarioFault> table_of(const std::vector<Choice>& choices) const {
    Node table = root_;
    for (const Choice& choice : choices | std::views::reverse)
      if (const std::string bad = set_field(table, choice.field, *choice.value); !bad.empty())
        return ScenarioFault{core::text_of(path_, choice.value->at) + "the sweep of " + choice.field + ": " + bad};
    return table;
  }

  bool has_fault(const std::vector<Choice>& choices, const ScenarioFault& fault) const {
    const auto table = table_of(choices);
    const auto scenario = table ? read_scenario(*table, path_, slowdowns_) : table.error();
    return !scenario && scenario.error().text == fault.text;
  }

  // Returns the choices to which the fault is due, as the end of its text: the file has the fault only with them.
  std::string causes_of(const ScenarioFault& fault, const std::vector<Choice>& choices) const {
    std::string text;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      std::vector<Choice> others = choices;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      if (has_fault(others, fault)) continue;
      text += (text.empty() ? "; swept: " : ", ") + choices[i].field + " = " + value_text(*choices[i].value);
    }
    return text;
  }

  const Node& root_;
  const std::vector<SweptField>& sweeps_;
  const std::string& path_;
  const std::vector<PairSlowdown>& slowdowns_;
  OverheadSources sources_;
};

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
  CellReader reader(*root, *sweeps, path, *slowdowns);
  for (std::size_t i = 0; i < *count; ++i) {
    auto cell = reader.read(i);
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
