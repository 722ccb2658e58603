#include "orb/eval/scenario_fields.h"

#include <catch2/catch.hpp>
#include <sstream>
#include <string>

#include "orb/eval/scenario_file.h"

namespace scenario_fields_test {

using namespace corelane::eval;

namespace {

// Returns a file in which the table has this field with its example, and what the reader says about it.
std::string fault_with(const ScenarioTable& table, const FieldInfo& info) {
  const std::string name(table.name), line = std::string(info.key) + " = " + std::string(info.example) + "\n";
  std::string text = name.empty() ? line : "";
  if (!name.empty()) text += (table.repeats ? "[[" : "[") + name + (table.repeats ? "]]\n" : "]\n") + line;
  const auto cells = parse_scenario(text, "s.toml");
  return cells ? "" : cells.error().text;
}

}  // namespace

TEST_CASE("the reader accepts the example of each field") {
  for (const ScenarioTable& table : scenario_tables())
    for (const auto& [info, kind] : table.fields) {
      CAPTURE(table.name, info.key);
      // The file lacks other fields, but this one is known and has a value of the right kind.
      const std::string name = (table.name.empty() ? "" : std::string(table.name) + ".") + std::string(info.key);
      CHECK_THAT(fault_with(table, info), !Catch::Contains("expected") && !Catch::Contains("there is no " + name));
      CHECK_FALSE(info.help.empty());
    }
}

TEST_CASE("the documentation has a line for each field") {
  const std::string text = scenario_documentation();
  for (const ScenarioTable& table : scenario_tables())
    for (const auto& [info, kind] : table.fields)
      CHECK_THAT(text, Catch::Contains("| `" + std::string(info.key) + "` | "));
  CHECK_THAT(text, Catch::Contains("\n## [[task]]\n") && Catch::Contains("| `uunifast-discard` | "));
}

TEST_CASE("the documentation has at most 100 columns outside of its tables") {
  std::istringstream lines(scenario_documentation());
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK((line.size() <= 100 || line.starts_with("| ")));
  }
  CHECK_THAT(scenario_documentation(), Catch::Contains("an estimate, never\na bound. `corelane measure"));
}

}  // namespace scenario_fields_test
