// The fields of a scenario file. The reader, the documentation and the schema for editors use the same tables.
// Threads: constants.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace corelane::eval {

enum class FieldKind : std::uint8_t {
  text,
  texts,      // a list of texts
  choice,     // one of several texts
  whole,      // a whole number
  fraction,   // a number with six digits behind the point
  duration,   // "10ms"
  durations,  // a list of durations
  fractions,  // a list of fractions
  sections,   // a table: resources with durations
  value,      // of a sweep: any of the others except lists and tables
  values,     // a list of such values
  flag,       // true or false
  charge,     // true, false or "worst"
};

struct FieldInfo {
  std::string_view key;
  std::string_view help;
  std::string_view fallback{};  // what holds if a file leaves the field out; "": nothing
  std::string_view example{};   // as in a file
  bool is_required = false;
  std::int64_t least = 0;                                // of a whole number; of a fraction, in millionths
  std::int64_t most = INT64_MAX;                         // of a whole number; of a fraction, in millionths
  bool rounds_up = false;                                // a fraction: to the next millionth, not to the nearest
  std::vector<std::string_view> (*choices)() = nullptr;  // the texts, if only some are allowed
};

struct ScenarioField {
  FieldInfo info;
  FieldKind kind;
};

struct ScenarioTable {
  std::string_view name;  // as in [platform]; "" for the fields at the top of the file
  std::string_view help;
  bool repeats = false;  // written as [[task]], any number of times
  std::vector<ScenarioField> fields;
};

const std::vector<ScenarioTable>& scenario_tables();

// Returns the tables as Markdown, for docs/scenario.md.
std::string scenario_documentation();

}  // namespace corelane::eval
