#include <CLI/CLI.hpp>
#include <cstdint>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "orb/base/registry.h"
#include "orb/eval/scenario_formats.h"
#include "services/corelane/commands/command.h"
#include "services/corelane/convert/convert.h"

namespace corelane::tool {

Action define_convert(CLI::App& app, std::vector<std::string>&) {
  const auto options = std::make_shared<ConvertOptions>();
  app.footer(
      "Formats: " + formats_help() +
      ".\n"
      "The format of INPUT is told by its content, and that of OUTPUT by its ending. Drawn tasks are listed. What "
      "the output cannot express is left out, with a note. Exit status: 0 done, 1 --strict and something would "
      "be left out, 2 the command line or the file was wrong.");
  refuse_empty(app.add_option("INPUT", options->input, "the file with the tasks"))->type_name("")->required();
  refuse_empty(app.add_option("OUTPUT", options->output, "the file to write; without it, the standard output"))
      ->type_name("");
  std::vector<std::string> names;
  for (const eval::ScenarioFormat* const format : eval::scenario_formats()) names.emplace_back(format->name);
  app.add_option("--to", options->format, "the format of the output [by its ending, else toml]")
      ->type_name("FORMAT")
      ->check(CLI::IsMember(names).description(""));
  app.add_option("--set", options->set, "which set of tasks, if sweeps or repetitions give several")
      ->type_name("NUMBER")
      ->check(CLI::Range(std::int64_t{1}, std::numeric_limits<std::int64_t>::max()).description(""))
      ->capture_default_str();
  add_duration(app, "--tick", options->units.tick, "what a unit of time means in jobs files [1us]", Duration{1});
  app.add_flag("--strict", options->strict, "write nothing if the output cannot express something");
  return [options](const ToolSettings&) { return convert(*options, std::cout, std::cerr); };
}

}  // namespace corelane::tool
