// corelane: the command line of Corelane. Each subcommand has a file of its own; see command.h.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "orb/core/config/command_line.h"
#include "orb/core/config/orb_options.h"
#include "orb/core/text/spelling.h"
#include "orb/os/log.h"
#include "orb/os/process/standard_descriptors.h"
#include "services/corelane/commands/command.h"
#include "services/corelane/output/text.h"

namespace {

using namespace corelane::tool;

std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* const command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Returns the end of a sentence that begins with "there": "are list, resolve", or "is end".
std::string are_names(const std::vector<std::string>& names) {
  return (names.size() == 1 ? "is " : "are ") + list_of(names);
}

Status usage_fault(const std::string& where, const std::string& what) {
  std::cerr << where << ": " << what << (what.ends_with('?') ? " See " : "; see ") << where << " --help\n";
  return 2;
}

// Returns whether the word is so similar that `meant` was probably meant. It has at most two slips. Also, these are
// less than half of the longer word, or both words have the same letters.
bool is_near(const std::string& word, const std::string& meant) {
  const std::size_t slips = corelane::core::distance(word, meant);
  return slips <= 2 && (2 * slips < std::max(word.size(), meant.size()) || std::ranges::is_permutation(word, meant));
}

// Replaces CLI11's messages for a missing or unknown command, which name neither it nor the known ones. `words` follow
// `where`, such as "corelane ns".
std::optional<Status> refuse_command(const CLI::App& app, const std::string& where,
                                     std::span<const std::string> words) {
  const auto known = names_of(app);
  if (known.empty()) return std::nullopt;
  if (words.empty()) return usage_fault(where, "which command? There " + are_names(known));
  const std::string& word = words.front();
  if (word.starts_with('-')) return std::nullopt;
  if (std::ranges::find(known, word) != known.end())
    return refuse_command(*app.get_subcommand(word), where + " " + word, words.subspan(1));
  const std::string& meant = corelane::core::nearest(word, known);
  const std::string question = is_near(word, meant) ? "; is " + meant + " meant? There " : "; there ";
  return usage_fault(where, "there is no command " + (word.empty() ? "''" : plain(word)) + question + are_names(known));
}

// Returns the status; but if a full disk or a closed pipe has cut standard output, reports that and returns 1.
Status flushed(Status status) {
  const std::string fault = corelane::os::output_fault();
  if (fault.empty()) return status;
  std::cerr << "corelane: " << fault << "\n";
  return 1;
}

// Returns "corelane top": the program with the command, if one was given.
std::string name_of(const CLI::App& app) {
  const auto given = app.get_subcommands();
  return app.get_name() + (given.empty() ? "" : " " + name_of(*given.front()));
}

bool runs_program(const std::vector<std::string>& words) {
  const auto given = std::ranges::find_if(
      commands(), [&](const Command& command) { return !words.empty() && command.name == words.front(); });
  return given != commands().end() && given->runs_program;
}

// Returns what follows a fault of a command line that has another program's words, but no -- before them.
std::string remedy_without_border(const std::string& fault) {
  if (fault.ends_with(" too many")) return "; write -- before the program";
  const bool is_unknown_option = fault.starts_with("there is no option ") && !fault.ends_with('?');
  return is_unknown_option ? "; if it belongs to the program, write -- before the program" : "";
}

Status run(std::vector<std::string> words) {
  // The words after -- are not options. For some commands they are another program's command line.
  const auto border = std::ranges::find(words, "--");
  std::vector<std::string> others(border, words.end());
  words.erase(border, words.end());
  // `corelane help ns` is `corelane ns --help`, and `corelane version` is `corelane --version`.
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  if (words == std::vector<std::string>{"version"}) words.front() = "--version";
  auto orb_options = corelane::core::take_orb_options(words);
  // CLI11 would not see the --: an option with an optional value takes it.
  std::vector<std::string> program;
  if (runs_program(words) && !others.empty()) program.assign(others.begin() + 1, others.end());
  if (program.empty()) words.insert(words.end(), others.begin(), others.end());
  CLI::App app{"Shows and manages Corelane's servers, and shows what they recorded.", "corelane"};
  app.set_version_flag("--version", "corelane " CORELANE_VERSION);
  app.require_subcommand(1);
  Action chosen;
  for (const Command& command : commands()) {
    CLI::App* const sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
    sub->callback([&chosen, run = command.define(*sub, orb_options)] { chosen = run; });
  }
  app.footer(
      "corelane COMMAND --help explains a command. -ORB options, CORELANE_ variables and corelane.toml apply here as "
      "they do to a server; see docs/configuration.md.");  // after the commands, which would inherit it
  if (const auto refused = refuse_command(app, "corelane", words)) return *refused;
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 expects them in reverse order
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    std::string fault = corelane::core::fault_of_command_line(app, words, error.what());
    if (others.empty() && runs_program(words)) fault += remedy_without_border(fault);
    return usage_fault(name_of(app), plain(fault));
  }
  auto settings = ToolSettings::load(orb_options);
  if (!settings) return std::cerr << name_of(app) << ": " << plain(settings.error().text) << "\n", 2;
  // Commands report themselves what they did. Only ping needs the log, which says what transport calls take.
  if (!app.got_subcommand("ping")) corelane::os::log::set_level(corelane::os::log::Level::warn);
  settings->program = std::move(program);
  return chosen(*settings);
}

}  // namespace

int main(int argc, char* argv[]) {
  try {
    return flushed(run({argv + 1, argv + argc}));
  } catch (const std::exception& error) {
    std::cerr << "corelane: " << error.what() << "\n";
    return 1;
  }
}
