// fault_of_command_line() says what is wrong with a command line whose options CLI11 reads. CLI11 itself names the
// words that were left over. Those are often correct, and the misspelled option is elsewhere.
// Threads: any; pure functions, which allocate.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace corelane::core {

// Returns "there is no option --core; is --cores meant?" for the first word that looks like an option and is not in
// `known` ("--cores", "-q"). Returns "" if there is none. Ignores what follows "--", which belongs to another program.
std::string unknown_option(std::span<const std::string> words, const std::vector<std::string>& known);

// Rewords an error text of CLI11 so that it says what to do: "--cores needs COUNT behind it" for "--cores: 1 required
// COUNT missing". Returns an unknown text unchanged.
std::string reworded(std::string_view said);

// Returns unknown_option() for the options of the program and of the given commands, or else the text of CLI11,
// reworded. `App` is CLI::App, whose parse() of the words has failed.
template <typename App>
std::string fault_of_command_line(const App& app, std::span<const std::string> words, std::string_view said) {
  std::vector<std::string> known;
  for (const App* command = &app; command != nullptr;) {  // bound: the nesting of commands
    for (const auto* const option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
      for (const std::string& name : option->get_snames()) known.push_back("-" + name);
    }
    const auto below = command->get_subcommands();
    command = below.empty() ? nullptr : below.front();
  }
  const std::string text = unknown_option(words, known);
  return text.empty() ? reworded(said) : text;
}

}  // namespace corelane::core
