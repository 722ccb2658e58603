// What is wrong with a program's command line, for programs whose options CLI11 reads. That library names the words
// which were left over; those often are sound, and the misspelt option stands elsewhere.
// Threads: pure. Allocates.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orb/core/spelling.h"

namespace corelane::core {

// "there is no option --core; is --cores meant?" for the first of the words that looks like an option and is none of
// `known` ("--cores", "-q"); "" where there is none. What stands behind -- is another program's.
std::string unknown_option(std::span<const std::string> words, const std::vector<std::string>& known);

// What CLI11 says, in words that tell what to do: "--cores needs COUNT behind it" for "--cores: 1 required COUNT
// missing". What is not known is left as it is.
std::string reworded(std::string_view said);

// unknown_option() for the options of the commands that were given, the program's own too, or what the library says,
// reworded. `App` is CLI::App, whose parse() of the words has failed.
template <typename App>
std::string fault_of_command_line(const App& app, std::span<const std::string> words, std::string_view said) {
  std::vector<std::string> known;
  for (const App* command = &app; command != nullptr;) {  // bound: their depth
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
