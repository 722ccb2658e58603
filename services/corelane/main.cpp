// corelane: the command line of Corelane. Each subcommand stands in a file of its own; see command.h.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "orb/core/orb_options.h"
#include "orb/core/spelling.h"
#include "services/corelane/command.h"
#include "services/corelane/text.h"

namespace {

using namespace corelane::tool;

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.emplace_back(command.name);
  return names;
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

Status usage_fault(const std::string& where, const std::string& what) {
  std::cerr << where << ": " << what << "; see " << where << " --help\n";
  return 2;
}

// The library's own words for a missing or unknown command name neither it nor those that there are.
std::optional<Status> refuse_command(const std::vector<std::string>& words) {
  const auto known = names();
  if (words.empty()) return usage_fault("corelane", "which command? There are " + list_of(known));
  const std::string& word = words.front();
  if (word.starts_with('-') || std::ranges::find(known, word) != known.end()) return std::nullopt;
  const std::string& meant = corelane::core::nearest(word, known);
  const bool is_near = corelane::core::distance(word, meant) <= 2;
  return usage_fault("corelane", "there is no command " + plain(word) +
                                     (is_near ? "; is " + meant + " meant? There are " : "; there are ") +
                                     list_of(known));
}

// What a full disk or a closed pipe took of standard output is not there, and who reads it is to know.
Status flushed(Status status) {
  if (std::cout.flush() && std::ferror(stdout) == 0) return status;
  std::cerr << "corelane: standard output did not take everything; is its disk full?\n";
  return 1;
}

// "corelane top": with the command that was given, where one was.
std::string name_of(const CLI::App& app) {
  const auto given = app.get_subcommands();
  return "corelane" + (given.empty() ? "" : " " + given.front()->get_name());
}

Status run(std::vector<std::string> words) {
  auto orb_options = corelane::core::take_orb_options(words);
  CLI::App app{"Looks at Corelane's servers and at what they recorded.", "corelane"};
  app.set_version_flag("--version", "corelane " CORELANE_VERSION);
  app.require_subcommand(1);
  Action chosen;
  for (const Command& command : commands()) {
    CLI::App* const sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
    sub->callback([&chosen, run = command.define(*sub, orb_options)] { chosen = run; });
  }
  app.footer(
      "corelane COMMAND --help tells of one. -ORB options, CORELANE_ variables and corelane.toml count here as they do "
      "for a server; see docs/configuration.md.");  // after the commands, which would take it over
  if (const auto refused = refuse_command(words)) return *refused;
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // as the library wants them
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return usage_fault(name_of(app), error.what());
  }
  const auto settings = ToolSettings::load(orb_options);
  if (!settings) return std::cerr << name_of(app) << ": " << settings.error().text << "\n", 2;
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
