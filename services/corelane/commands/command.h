// Command is one subcommand of the program `corelane`. Each has a file of its own and a row in commands.cpp.
//
// The folder services/corelane/commands has the command lines: one file for each subcommand, which reads its options.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/time.h"
#include "services/corelane/commands/tool_settings.h"
#include "services/corelane/output/format.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace corelane::tool {

// The program's exit status: 0 done; 1 it failed and said why; 2 the command line was wrong.
using Status = int;

// What to do after the command line was parsed.
using Action = std::function<Status(const ToolSettings& settings)>;

struct Command {
  std::string_view name;
  std::string_view summary;
  // Adds the options to the command's own parser. `orb_options` must outlive it; see OtherWord.
  Action (*define)(CLI::App& app, std::vector<std::string>& orb_options);
  bool runs_program = false;  // the words after -- are another program's command line; ToolSettings::program has them
};

std::span<const Command> commands();

// Adds --format table|json, for commands that can show their results either way.
void add_format(CLI::App& app, Format& format);
// Returns what is wrong with a duration such as "10ms"; "" if nothing is.
std::string fault_of_duration(const std::string& text);
// Adds an option that reads a duration such as "10ms", of `least` or more, into `target`.
CLI::Option* add_duration(CLI::App& app, const std::string& name, Duration& target, const std::string& help,
                          Duration least = {});
// Does the same. Without the option, `target` has no value.
CLI::Option* add_duration(CLI::App& app, const std::string& name, std::optional<Duration>& target,
                          const std::string& help, Duration least = {});
// Refuses an empty word, as from a variable that is not set. It would otherwise count as no option.
CLI::Option* refuse_empty(CLI::Option* option);
// Adds an option that reads a process id.
CLI::Option* add_pid(CLI::App& app, const std::string& name, int& target, const std::string& help);
// OtherWord is an option that stands for an -ORB option. It adds that option and its value to `orb_options`.
struct OtherWord {
  std::string name, orb_option, type, help;
};
CLI::Option* add_other_word(CLI::App& app, std::vector<std::string>& orb_options, const OtherWord& word);
// Adds --runtime-directory.
void add_directory(CLI::App& app, std::vector<std::string>& orb_options);

Action define_trace(CLI::App& app, std::vector<std::string>& orb_options);
Action define_completion(CLI::App& app, std::vector<std::string>& orb_options);
Action define_cores(CLI::App& app, std::vector<std::string>& orb_options);
Action define_reserve(CLI::App& app, std::vector<std::string>& orb_options);
Action define_measure(CLI::App& app, std::vector<std::string>& orb_options);
Action define_ns(CLI::App& app, std::vector<std::string>& orb_options);
Action define_plan(CLI::App& app, std::vector<std::string>& orb_options);
Action define_simulate(CLI::App& app, std::vector<std::string>& orb_options);
Action define_eval(CLI::App& app, std::vector<std::string>& orb_options);
Action define_convert(CLI::App& app, std::vector<std::string>& orb_options);
Action define_ping(CLI::App& app, std::vector<std::string>& orb_options);
Action define_doctor(CLI::App& app, std::vector<std::string>& orb_options);
Action define_ior(CLI::App& app, std::vector<std::string>& orb_options);
Action define_clean(CLI::App& app, std::vector<std::string>& orb_options);
Action define_tasks(CLI::App& app, std::vector<std::string>& orb_options);
Action define_scale(CLI::App& app, std::vector<std::string>& orb_options);
Action define_tune(CLI::App& app, std::vector<std::string>& orb_options);
Action define_top(CLI::App& app, std::vector<std::string>& orb_options);

}  // namespace corelane::tool
