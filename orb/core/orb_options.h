// The -ORB options among a program's words, for programs that read them before their ORB does, or have several ORBs.
// Threads: pure. Allocates.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace corelane::core {

// With two dashes it is a slip; the program would not take it either.
constexpr bool is_orb_option(std::string_view word) noexcept {
  return word.starts_with("-ORB") || word.starts_with("--ORB");
}

// Takes them out of `words`, each with its value, where a word that may be one follows. `words` without the program's
// name.
std::vector<std::string> take_orb_options(std::vector<std::string>& words);

}  // namespace corelane::core
