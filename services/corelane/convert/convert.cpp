#include "services/corelane/convert/convert.h"

#include <cstddef>
#include <filesystem>
#include <ostream>
#include <string>
#include <system_error>
#include <vector>

#include "orb/base/registry.h"
#include "orb/eval/scenario_file.h"
#include "orb/eval/task_set.h"
#include "orb/os/files/small_file.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {
namespace {

constexpr int wrong_conversion = 2;

int complain_of_conversion(const std::string& text, std::ostream& err) {
  err << "corelane convert: " << plain(text) << "\n";
  return wrong_conversion;
}

// Returns null if the output's format is not known.
const eval::ScenarioFormat* format_for(const ConvertOptions& options) {
  if (!options.format.empty()) return find_named(eval::scenario_formats(), options.format);
  return options.output.empty() ? eval::scenario_formats().front() : eval::format_of_path(options.output);
}

// Returns the tasks of one set, listed. Sets are numbered from 1: all repetitions of the first combination of swept
// values, then those of the next one.
Expected<eval::Scenario, eval::ScenarioFault> chosen_set(const std::vector<eval::Cell>& cells,
                                                         const ConvertOptions& options) {
  std::int64_t before = 0;
  for (const eval::Cell& cell : cells) {
    const std::int64_t repetitions = cell.scenario.repetitions;
    if (options.set <= before + repetitions) {
      auto listed = eval::as_listed(cell.scenario, options.set - before - 1);
      if (!listed) return eval::ScenarioFault{options.input + ": " + listed.error().text};
      return listed;
    }
    before += repetitions;
  }
  return eval::ScenarioFault{options.input + ": it has " + std::to_string(before) + " sets of tasks; there is no set " +
                             std::to_string(options.set)};
}

// Returns whether the output is the input: by the same name, another name or a link.
bool is_input(const ConvertOptions& options) {
  std::error_code none;
  return !options.output.empty() && std::filesystem::equivalent(options.input, options.output, none);
}

// Returns why a text of this size is not written; "" if corelane can read it again.
std::string fault_of_size(const eval::ScenarioFormat& format, std::size_t size) {
  if (size <= format.longest) return "";
  return "the output would have " + std::to_string(size) + " bytes, but corelane reads at most " +
         std::to_string(format.longest) + " bytes of the format " + std::string(format.name) +
         "; take fewer tasks, or another format";
}

// Writes what the conversion leaves out. Returns whether something is.
bool write_notes(const std::vector<std::string>& of_input, const std::vector<std::string>& of_output,
                 std::ostream& err) {
  for (const auto* const notes : {&of_input, &of_output})
    for (const std::string& note : *notes) err << "corelane convert: note: " << plain(note) << "\n";
  return !of_input.empty() || !of_output.empty();
}

}  // namespace

std::string formats_help() { return help_of(eval::scenario_formats()); }

int convert(const ConvertOptions& options, std::ostream& out, std::ostream& err) {
  const eval::ScenarioFormat* const format = format_for(options);
  if (format == nullptr)
    return complain_of_conversion("the format of the output is not known; say --to " +
                                      names_of(eval::scenario_formats()) +
                                      ", or end its name with .toml, .json, .xml "
                                      "or .csv",
                                  err);
  if (is_input(options))
    return complain_of_conversion(options.output + ": this file is the input, and would be overwritten; name another",
                                  err);
  const auto text = eval::read_scenario_file(options.input);
  if (!text) return complain_of_conversion(text.error().text, err);
  const auto cells = eval::parse_scenario(*text, options.input, options.units);
  if (!cells) return complain_of_conversion(cells.error().text, err);
  const auto scenario = chosen_set(*cells, options);
  if (!scenario) return complain_of_conversion(scenario.error().text, err);
  const auto written = format->write(*scenario, options.units);
  if (!written) return complain_of_conversion(options.input + ": " + written.error().text, err);
  if (const std::string fault = fault_of_size(*format, written->text.size()); !fault.empty())
    return complain_of_conversion(fault, err);
  if (write_notes(scenario->notes, written->notes, err) && options.strict) return 1;
  if (options.output.empty()) {
    out << written->text;
    return 0;
  }
  if (const auto file = os::write_output_file(options.output, written->text); !file)
    return complain_of_conversion(file.error().text, err);
  return 0;
}

}  // namespace corelane::tool
