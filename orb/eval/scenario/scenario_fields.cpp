#include "orb/eval/scenario_fields.h"

#include <cstddef>
#include <span>

#include "orb/eval/dispatchers.h"
#include "orb/eval/generate/periods.h"
#include "orb/eval/generate/utilizations.h"
#include "orb/eval/scenario/experiment_tables.h"
#include "orb/eval/scenario/field_tables.h"

namespace corelane::eval {
namespace {

template <typename Table>
ScenarioTable table_of(std::string_view name, std::string_view help, std::span<const Field<Table>> fields,
                       bool repeats = false) {
  ScenarioTable table{.name = name, .help = help, .repeats = repeats, .fields = {}};
  for (const Field<Table>& field : fields) table.fields.push_back({field.info, kind_of(field)});
  return table;
}

// Returns the cell of a table in Markdown.
std::string cell_of(std::string_view text) {
  std::string cell;
  for (const char c : text) cell += c == '|' ? std::string("\\|") : std::string(1, c);
  return cell;
}

std::string code_of(std::string_view text) { return text.empty() ? "" : "`" + cell_of(text) + "`"; }

// Returns the default of a field, or that it is required. A value is set as code, a sentence is not.
std::string default_of(const FieldInfo& info) {
  if (info.is_required) return "required";
  const bool is_value = info.fallback.find(' ') == info.fallback.npos && info.fallback != "none";
  return is_value ? code_of(info.fallback) : cell_of(info.fallback);
}

std::string choices_of(const FieldInfo& info) {
  std::string text;
  if (info.choices != nullptr)
    for (const std::string_view name : info.choices())
      text += (text.empty() ? ". One of `" : ", `") + std::string(name) + "`";
  return text;
}

// Returns the text in lines of at most 100 columns, as in other documents. A longer word has a line of its own.
std::string wrapped(std::string_view text) {
  constexpr std::size_t columns = 100;
  std::string lines;
  while (text.size() > columns) {
    std::size_t end = text.rfind(' ', columns);
    if (end == text.npos) end = text.find(' ');
    if (end == text.npos) break;
    lines.append(text.substr(0, end)).append("\n");
    text.remove_prefix(end + 1);
  }
  return lines.append(text);
}

std::string documentation_of(const ScenarioTable& table) {
  std::string heading = "Top of the file";
  if (!table.name.empty())
    heading = (table.repeats ? "[[" : "[") + std::string(table.name) + (table.repeats ? "]]" : "]");
  std::string text = "## " + heading + "\n\n" + wrapped(table.help) +
                     "\n\n| field | example | default | meaning |\n|---|---|---|---|\n";
  for (const auto& [info, kind] : table.fields)
    text += "| `" + std::string(info.key) + "` | " + code_of(info.example) + " | " + default_of(info) + " | " +
            cell_of(info.help) + choices_of(info) + " |\n";
  return text + "\n";
}

// Returns a table of the names that a field may have, with what they mean.
template <typename Entries>
std::string names_table(const std::string& field, const Entries& entries) {
  std::string text = "| `" + field + "` | |\n|---|---|\n";
  for (const auto& entry : entries) text += "| `" + std::string(entry.name) + "` | " + cell_of(entry.help) + " |\n";
  return text + "\n";
}

std::string dispatchers_table() {
  std::vector<Dispatcher> entries;
  for (const Dispatcher* const dispatcher : dispatchers()) entries.push_back(*dispatcher);
  return names_table("dispatchers", entries);
}

}  // namespace

const std::vector<ScenarioTable>& scenario_tables() {
  static const std::vector<ScenarioTable> tables{
      table_of("", "These fields come before the first table.", top_fields()),
      table_of("platform", "The cores, and what runs on them above all tasks.", platform_fields()),
      table_of("policy", "How tasks are placed, tested and run.", policy_fields()),
      table_of("task", "One task, or several of a kind. By default they ask for admission in the order of the file.",
               task_fields(), true),
      table_of("chain", "Listed tasks on one or several cores that follow each other.", chain_fields(), true),
      table_of("slowdown",
               "How much longer a task executes beside another one on the same last-level cache: an estimate, never a "
               "bound. `corelane measure --slowdowns FILE` adds such tables to a file, which may be a scenario.",
               slowdown_fields(), true),
      table_of("generate", "Tasks drawn at random. By default they ask for admission after those of the file.",
               generator_fields()),
      table_of(
          "overheads",
          "What the platform costs beside the execution of jobs. docs/simulation.md says where each cost is charged.",
          overhead_fields()),
      table_of("experiment", "How `corelane simulate` and `corelane eval` run the tasks.", experiment_fields()),
      table_of(
          "published",
          "Figures of somebody else, which `corelane eval` prints beside the fraction of sets that miss a deadline.",
          published_fields(), true),
      table_of("sweep", "A field that takes several values in turn. Several sweeps give all combinations.",
               sweep_fields(), true),
  };
  return tables;
}

std::string scenario_documentation() {
  std::string text;
  for (const ScenarioTable& table : scenario_tables()) {
    text += documentation_of(table);
    if (table.name == "generate")
      text += names_table("utilizations", utilization_generators()) + names_table("periods", period_distributions());
    if (table.name == "experiment") text += dispatchers_table();
  }
  text.pop_back();  // of two ends of a line
  return text;
}

}  // namespace corelane::eval
