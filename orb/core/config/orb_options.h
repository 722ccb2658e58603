// Separates the -ORB options from a program's other words. For programs that read them before their ORB does, or have
// several ORBs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace corelane::core {

// A word with two dashes is a misspelt option, and not one of the program's own.
constexpr bool is_orb_option(std::string_view word) noexcept {
  return word.starts_with("-ORB") || word.starts_with("--ORB");
}

// Moves the options out of `words` and returns them. The word after an option is its value, unless it is an option
// itself. `words` does not contain the program's name.
std::vector<std::string> take_orb_options(std::vector<std::string>& words);

}  // namespace corelane::core
